package retryhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A Lease is a value that requests need until the server refuses it, such as an access token or the
// ID of a session. Its method Sign is for [Transport].Sign:
//
//	lease := &retryhttp.Lease[string]{Renew: login, Set: retryhttp.InHeader("Authorization", "Bearer ")}
//	client := &http.Client{Transport: &retryhttp.Transport{Sign: lease.Sign}}
//
// If a response refuses the value, one renewal serves all calls that wait for it. Each of them then
// sends its request again with the new value, whatever its method. If a renewal fails, calls fail
// without a request, and may be retried.
//
// A server that refuses every value gets few requests. If it refuses two new values in a row, there
// is no renewal for 2 s, and then for twice as long each time, up to a minute, until a call that was
// refused succeeds with a new value. Meanwhile, calls return the responses that refuse the value.
// After a renewal that failed, the next one begins after 1 s, and then after twice as long each time,
// up to a minute.
//
// For the Transport's own Limiter, all values of a Lease are one credential. A Lease is safe for
// concurrent use. It must not be copied, nor its fields changed, once it is in use.
type Lease[T comparable] struct {
	// Renew returns a new value. old is the one that was refused or has expired, or the zero T at
	// first. The zero T is no value. At most one Renew runs at a time, and it is repeated according
	// to Policy if it fails. If it returns old or the zero T, calls fail with an error that matches
	// [retry.ErrInvalid].
	//
	// ctx is not that of a call, because the renewal is for all of them. Requests with this ctx are
	// sent without the Lease, so Renew may use the same client. A request with another context would
	// wait for Renew, and fails a second after ctx has ended. A panic of Renew is an error of the calls
	// that wait for it.
	Renew func(ctx context.Context, old T) (T, error)

	// Load reads the value that several processes share. It is called before Renew, and after a
	// Renew that failed: for up to 2 s if that failed permanently, because another process may have
	// used a refresh token that can be used once. If it returns a value that is not the zero T,
	// nor old, nor the one that it returned before, that value is used. Renew has to store what it
	// returns. If the server ends the session when a refresh token is used twice, Renew also has to
	// hold a lock and to read the store under it. nil means that only this process has the value.
	// With Load, T must not be a pointer: values are compared with ==.
	Load func(ctx context.Context) (T, error)

	// Set adds the value to a request, as the comment on [Transport].Sign describes. [InHeader]
	// makes such functions.
	Set func(req *http.Request, value T) error

	// Until returns when a value expires: it is renewed before it is used after that time, but at
	// most once in a second. The zero time, or a nil Until, means that only the server knows.
	Until func(value T) time.Time

	// Refused reports whether a response refuses the value. nil means status 401.
	Refused Refused

	// Policy repeats a renewal that failed. Its AttemptTimeout limits one Load and Renew. 0 means
	// 30 s, or half of MaxElapsed if that is shorter.
	Policy retry.Policy

	mu      sync.Mutex
	value   T
	usable  bool
	since   time.Time   // there is value
	flight  *renewal[T] // the one that is going on
	resting time.Time   // until then, no renewal begins
	fails   int         // renewals in a row that failed
	err     error       // of the last renewal
	vain    int         // renewals in a row whose value was refused
	counted bool        // vain has that of value
	loaded  T           // what Load returned last; only a renewal uses it
}

// A renewal is over when done is closed.
type renewal[T any] struct {
	done   chan struct{}
	stuck  chan struct{} // closed if a function of the user goes on although its context has ended
	value  T
	shared bool // value is from Load
	err    error
}

// renewing marks the context of a renewal.
type renewing[T comparable] struct{ *Lease[T] }

// Sign is for [Transport].Sign.
func (l *Lease[T]) Sign(req *http.Request) (Refused, error) {
	ctx := req.Context()
	if ctx.Value(renewing[T]{l}) != nil {
		return nil, nil
	}
	if l.Set == nil {
		return nil, l.invalid("it has no Set")
	}
	value, err := l.Get(ctx)
	if err != nil {
		return nil, err
	}
	err = l.Set(req, value)
	if err != nil {
		return nil, err
	}
	s := signingOf(ctx)
	s.scope = maphash.Comparable(seed, l)
	again := s.refusals > 0
	return func(resp *http.Response, peek func(int) ([]byte, error)) bool {
		if l.Refused.of(resp, peek) {
			return l.refuse(value, again)
		}
		if resp.StatusCode < 400 {
			l.accept(value, again)
		}
		return false
	}, nil
}

// Get returns the value, and renews it if necessary. It is for what is not sent by a [Transport],
// such as a gRPC call. Get waits until ctx ends, and then returns the cause; a renewal that has begun
// goes on. If the renewal failed, and there may be another one, the error is transient with a hint.
func (l *Lease[T]) Get(ctx context.Context) (T, error) {
	if l.Renew == nil {
		var none T
		return none, l.invalid("it has no Renew")
	}
	value, f, err := l.take()
	if f == nil {
		return value, err
	}
	if ctx.Value(renewing[T]{l}) != nil {
		return value, l.invalid("its Renew waits for the value that it renews")
	}
	select {
	case <-f.done:
		return f.value, f.err
	case <-f.stuck:
		return value, l.invalid("a second after its context ended, its Renew or Load has not returned: use that context for requests")
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

// take returns the value, or the renewal to wait for, or why there is none.
func (l *Lease[T]) take() (value T, f *renewal[T], err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.usable && l.Until != nil && now.Sub(l.since) >= time.Second {
		end := l.Until(l.value)
		l.usable = end.IsZero() || now.Before(end)
	}
	switch {
	case l.usable:
		return l.value, nil, nil
	case l.flight != nil:
		return l.value, l.flight, nil
	case l.err != nil && now.Before(l.resting):
		return l.value, nil, l.failure()
	}
	l.flight = &renewal[T]{done: make(chan struct{}), stuck: make(chan struct{})}
	go l.renew(l.flight, l.value)
	return l.value, l.flight, nil
}

// Refuse says that a server has refused a value of Get. It returns true if the next Get may return
// another value, which is there already or for which it waits. A value that is refused within a
// second of its renewal counts as new.
func (l *Lease[T]) Refuse(value T) bool {
	l.mu.Lock()
	young := value == l.value && l.now().Sub(l.since) < time.Second
	l.mu.Unlock()
	return l.refuse(value, young)
}

// refuse notes that a value was refused. again says that its renewal has not helped: the request was
// refused before.
func (l *Lease[T]) refuse(value T, again bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if value != l.value || !l.usable {
		return true
	}
	now := l.now()
	if again && !l.counted {
		l.counted = true
		l.vain++
		if l.vain > 1 { // one may have been revoked early
			l.resting = now.Add(rest(l.vain))
		}
	}
	if now.Before(l.resting) {
		return false
	}
	l.usable = false
	return true
}

// accept notes that a server has accepted a value. again says that it refused the request before.
func (l *Lease[T]) accept(value T, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case value != l.value:
	case again:
		l.vain, l.resting = 0, time.Time{}
	default: // another route may refuse every value
		l.vain = min(l.vain, 1)
	}
}

// rest is how long no renewal begins after so many in a row that were in vain.
func rest(vain int) time.Duration {
	return retry.Exponential{Base: time.Second, Cap: time.Minute}.Delay(retry.Attempt{Number: vain}, 0)
}

// renew ends a renewal, even if a function of the user panics.
func (l *Lease[T]) renew(f *renewal[T], old T) {
	f.err = retry.Permanent(retry.ErrNoReturn)
	defer func() {
		v := recover()
		if v != nil {
			f.err = retry.Permanent(fmt.Errorf("panic: %v\n\n%s", v, debug.Stack()))
		}
		l.settle(f)
	}()
	policy := l.Policy
	if policy.AttemptTimeout == 0 {
		policy.AttemptTimeout = 30 * time.Second
		if policy.MaxElapsed > 0 {
			policy.AttemptTimeout = min(policy.AttemptTimeout, policy.MaxElapsed/2)
		}
	}
	ctx := context.WithValue(context.Background(), renewing[T]{l}, true)
	stuck := sync.OnceFunc(func() { close(f.stuck) })
	f.value, f.err = retry.DoValue(ctx, policy, func(ctx context.Context) (value T, err error) {
		alarm := time.AfterFunc(policy.AttemptTimeout+time.Second, stuck)
		defer alarm.Stop()
		value, f.shared, err = l.next(ctx, old)
		return value, err
	})
}

// next returns another value than old, and whether that is shared.
func (l *Lease[T]) next(ctx context.Context, old T) (value T, shared bool, err error) {
	value, shared, err = l.load(ctx, old)
	if shared || err != nil {
		return value, shared, err
	}
	value, err = l.Renew(ctx, old)
	if err == nil {
		var none T
		switch value {
		case none:
			err = l.invalid("its Renew returned the zero value")
		case old:
			err = l.invalid("its Renew returned the value that was refused or has expired")
		}
		return value, false, err
	}
	if l.Load == nil {
		return value, false, err
	}
	look := retry.Policy{Clock: l.Policy.Clock, MaxAttempts: retry.NoRetry}
	if l.Policy.Classify(err).Class == retry.ClassPermanent { // another process may be about to store the new value
		look = retry.Policy{Clock: l.Policy.Clock, MaxElapsed: 2 * time.Second, Backoff: retry.Constant(50 * time.Millisecond)}
	}
	stored, none := retry.DoValue(ctx, look, func(ctx context.Context) (T, error) {
		stored, shared, _ := l.load(ctx, old)
		if !shared {
			return stored, errNoNews
		}
		return stored, nil
	})
	if none != nil {
		return value, false, err
	}
	return stored, true, nil
}

var errNoNews = retry.Transient(errors.New("nothing new is stored"))

// load reports whether there is another value than old in the store.
func (l *Lease[T]) load(ctx context.Context, old T) (value T, news bool, err error) {
	var none T
	if l.Load == nil {
		return none, false, nil
	}
	value, err = l.Load(ctx)
	if err != nil {
		return none, false, err
	}
	news = value != old && value != none && value != l.loaded
	l.loaded = value
	return value, news, nil
}

// settle gives the result of a renewal to those who wait for it.
func (l *Lease[T]) settle(f *renewal[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.flight, l.err = nil, f.err
	if f.err == nil {
		l.value, l.usable, l.since = f.value, true, now
		l.fails, l.counted = 0, f.shared // what another process stored may be old
	} else {
		l.fails++
		hint := min(l.Policy.Classify(f.err).Hint, time.Minute)
		l.resting = now.Add(max(rest(l.fails), hint))
		f.err = l.failure()
	}
	close(f.done)
}

// failure returns the error of the last renewal. If it is not permanent, a call may try again when
// the next renewal may begin.
func (l *Lease[T]) failure() error {
	err := fmt.Errorf("retryhttp: renew a Lease: %w", l.err)
	if l.Policy.Classify(l.err).Class == retry.ClassPermanent {
		return err
	}
	return retry.After(retry.Transient(err), l.resting.Sub(l.now()))
}

func (l *Lease[T]) invalid(reason string) error {
	return invalidSigning("Lease", reason)
}

func (l *Lease[T]) now() time.Time {
	return cmp.Or[retry.Clock](l.Policy.Clock, retry.SystemClock{}).Now()
}
