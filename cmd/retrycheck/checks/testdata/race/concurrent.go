package race

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
)

type profile struct {
	name   string
	orders int
}

type pages struct {
	hedge retryhedge.Hedge
	last  profile
	seen  map[string]int
	mu    sync.Mutex
}

func (p *pages) hedgesOutside(ctx context.Context, get func(context.Context) (profile, []byte, error)) (found profile, err error) {
	calls := 0
	var list []profile
	_, err = retryhedge.Do(ctx, &p.hedge, "profile", func(ctx context.Context) (bool, error) {
		var text []byte
		calls++                          // want `a copy of the operation runs at the same time, even after retryhedge.Do has returned, so both write to calls: return it from the operation`
		found, text, err = get(ctx)      // want `so both write to found` `so both write to err`
		list = append(list, found)       // want `so both write to list`
		p.last = found                   // want `so both write to p.last`
		p.seen[found.name]++             // want `so both write to p.seen\[found.name\]`
		_ = json.Unmarshal(text, &found) // want `so both write to found`
		return true, nil
	})
	return found, err
}

func (p *pages) hedgesMethod(ctx context.Context) (bool, error) {
	return retryhedge.Do(ctx, &p.hedge, "profile", p.load)
}

func (p *pages) load(ctx context.Context) (bool, error) {
	p.last = profile{name: "x"} // want `so both write to p.last`
	return true, ctx.Err()
}

func (p *pages) hedgesRight(ctx context.Context, get func(context.Context, string) (profile, error)) (profile, error) {
	var calls atomic.Int64
	both := make([]profile, 2)
	_, done, err := retryhedge.Open(ctx, &p.hedge, "profile", func(ctx context.Context, copy int) (profile, error) {
		found, err := get(ctx, "x")
		both[copy] = found // each copy has its own element
		return found, err
	}, nil)
	done()
	if err != nil {
		return both[0], err
	}
	return retryhedge.Do(ctx, &p.hedge, "profile", func(ctx context.Context) (profile, error) {
		calls.Add(1)
		var found profile
		found, err := get(ctx, "x")
		found.orders++
		return found, err
	})
}

func (p *pages) hedgesLocked(ctx context.Context, get func(context.Context) (profile, error)) error {
	_, err := retryhedge.Do(ctx, &p.hedge, "profile", func(ctx context.Context) (bool, error) {
		found, err := get(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.last = found
		return true, err
	})
	return err
}

func withoutCopies(ctx context.Context, get func(context.Context) (int, error)) (n int, err error) {
	_, err = retryhedge.Do(ctx, nil, "get", func(ctx context.Context) (bool, error) {
		n, err = get(ctx)
		return true, err
	})
	return n, err
}

type signer struct {
	base  http.RoundTripper
	token string
	once  sync.Once
	sent  atomic.Int64
}

func (s *signer) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.token == "" {
		s.token = "new" // want `calls that run at the same time share this RoundTripper, so they race for s.token: use a lock or sync/atomic`
	}
	s.sent.Add(1)
	return s.base.RoundTrip(req)
}

type onceSigner struct {
	base  http.RoundTripper
	token string
	once  sync.Once
}

func (s *onceSigner) RoundTrip(req *http.Request) (*http.Response, error) {
	s.once.Do(func() { s.token = "new" })
	req.Header.Set("Authorization", s.token)
	return s.base.RoundTrip(req)
}

type tokens struct{ left int }

func (t *tokens) TryWithdraw(retry.Attempt) bool {
	if t.left == 0 {
		return false
	}
	t.left-- // want `calls that run at the same time share this Budget, so they race for t.left`
	return true
}

func (t *tokens) Deposit(retry.Attempt, error) { t.left++ } // want `share this Budget`

type lockedTokens struct {
	mu   sync.Mutex
	left int
}

func (t *lockedTokens) TryWithdraw(retry.Attempt) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left--
	return t.left >= 0
}

func (t *lockedTokens) Deposit(retry.Attempt, error) {}

type remembers struct{ last error }

func (r *remembers) Classify(err error) retry.Verdict {
	r.last = err // want `share this Classifier`
	return retry.DefaultClassifier{}.Classify(err)
}

type tripperFunc func(*http.Request) (*http.Response, error)

func (f tripperFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func countsAll(base http.RoundTripper) http.RoundTripper {
	requests := 0
	return tripperFunc(func(req *http.Request) (*http.Response, error) {
		requests++ // want `requests that are sent at the same time share this RoundTripper, so they race for requests`
		return base.RoundTrip(req)
	})
}

// countsOne counts the redirects of one call.
func countsOne(req *http.Request, base http.RoundTripper) (int, error) {
	requests := 0
	client := http.Client{Transport: tripperFunc(func(req *http.Request) (*http.Response, error) {
		requests++
		return base.RoundTrip(req)
	})}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return requests, resp.Body.Close()
}

func (p *pages) hedgesPointer(ctx context.Context, get func(context.Context) (*json.Decoder, error)) (*profile, error) {
	found := new(profile)
	_, err := retryhedge.Do(ctx, &p.hedge, "profile", func(ctx context.Context) (struct{}, error) {
		decoder, err := get(ctx)
		if err != nil {
			return struct{}{}, err
		}
		own := new(profile)
		err = decoder.Decode(own)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, decoder.Decode(found) // want `so both write to found`
	})
	return found, err
}
