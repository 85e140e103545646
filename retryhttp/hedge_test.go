package retryhttp_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp"
)

// hedgeWait is the wait for a copy in these tests; the server responds within hedgeFast
// except to the requests that a test makes slow.
const (
	hedgeFast = 20 * time.Millisecond
	hedgeWait = 60 * time.Millisecond
	hedgeWarm = 50 // requests before the test
)

// hedged is a server and a client that hedges, in virtual time.
type hedged struct {
	transport retryhttp.Transport
	client    *http.Client
	hedge     retryhedge.Hedge
	handle    func(n int, w http.ResponseWriter, r *http.Request) // the requests after the budget is filled, from 1

	mu       sync.Mutex
	requests int
	events   []retryhedge.EventKind
}

func inHedge(t *testing.T, run func(t *testing.T, h *hedged)) {
	for _, protocol := range []string{http1, http2} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hedged{}
				h.hedge = retryhedge.Hedge{After: hedgeWait, OnEvent: h.event}
				protocols := new(http.Protocols)
				protocols.SetHTTP1(protocol == http1)
				protocols.SetUnencryptedHTTP2(protocol == http2)
				network := memnet.New()
				server := &http.Server{Handler: h, Protocols: protocols}
				go server.Serve(network)
				defer time.Sleep(time.Hour) // until the handlers have returned
				defer server.Close()
				base := &http.Transport{DialContext: network.Dial, Protocols: protocols}
				defer base.CloseIdleConnections()
				h.transport = retryhttp.Transport{Base: base, Hedge: &h.hedge}
				h.client = &http.Client{Transport: &h.transport}
				for range hedgeWarm { // the budget starts empty
					h.do(t, http.MethodGet, nil)
				}
				run(t, h)
			})
		})
	}
}

func (h *hedged) event(_ context.Context, e retryhedge.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e.Kind)
}

func (h *hedged) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests++
	return h.requests - hedgeWarm
}

func (h *hedged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n := h.count(); n > 0 {
		h.handle(n, w, r)
		return
	}
	time.Sleep(hedgeFast)
}

// firstSlow makes the first of the requests slow.
func firstSlow(rest http.HandlerFunc) func(int, http.ResponseWriter, *http.Request) {
	return func(n int, w http.ResponseWriter, r *http.Request) {
		if n > 1 {
			time.Sleep(hedgeFast)
			rest(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(time.Second)
		_, _ = io.WriteString(w, "late")
	}
}

func (h *hedged) do(t *testing.T, method string, body io.Reader, header ...string) *hedgedResult {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://server/", body)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	start := time.Now()
	resp, err := h.client.Do(req)
	result := &hedgedResult{took: time.Since(start), err: err}
	if err == nil {
		result.status, result.ambiguous = resp.StatusCode, retryhttp.Ambiguous(resp)
		content, err := io.ReadAll(resp.Body)
		assert.NoError(t, err)
		assert.NoError(t, resp.Body.Close())
		result.content = string(content)
	}
	return result
}

type hedgedResult struct {
	took      time.Duration
	status    int
	content   string
	ambiguous bool
	err       error
}

// TestHedge: which requests get a copy.
func TestHedge(t *testing.T) {
	text := func() io.Reader { return strings.NewReader("content") }
	once := func() io.Reader { return io.MultiReader(text()) } // without GetBody
	for name, test := range map[string]struct {
		method string
		body   func() io.Reader
		header []string
		change func(*retryhttp.Transport)
		copies int32
	}{
		"GET":                   {method: http.MethodGet, copies: 1},
		"PUT":                   {method: http.MethodPut, body: text, copies: 1},
		"POST":                  {method: http.MethodPost},
		"POST with a body":      {method: http.MethodPost, body: text},
		"POST with a key":       {method: http.MethodPost, body: text, header: []string{"Idempotency-Key", "1"}, copies: 1},
		"PUT without GetBody":   {method: http.MethodPut, body: once},
		"PUT with MaxBuffer":    {method: http.MethodPut, body: once, change: func(tr *retryhttp.Transport) { tr.MaxBuffer = 1 << 10 }},
		"POST, MayRepeat":       {method: http.MethodPost, change: func(tr *retryhttp.Transport) { tr.MayRepeat = mayRepeat(true) }, copies: 1},
		"GET, not MayRepeat":    {method: http.MethodGet, change: func(tr *retryhttp.Transport) { tr.MayRepeat = mayRepeat(false) }},
		"a change of protocol":  {method: http.MethodGet, header: []string{"Upgrade", "chunked"}}, // which net/http accepts over HTTP/2
		"a Base that is hidden": {method: http.MethodGet, change: func(tr *retryhttp.Transport) { tr.Base = struct{ http.RoundTripper }{tr.Base} }, copies: 1},
		"AttemptTimeout":        {method: http.MethodGet, change: func(tr *retryhttp.Transport) { tr.Policy.AttemptTimeout = 2 * time.Second }, copies: 1},
		"Limiter":               {method: http.MethodGet, change: func(tr *retryhttp.Transport) { tr.Policy.Limiter = new(hedgeLimiter) }, copies: 1},
	} {
		t.Run(name, func(t *testing.T) {
			inHedge(t, func(t *testing.T, h *hedged) {
				if test.change != nil {
					test.change(&h.transport)
				}
				h.handle = firstSlow(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, "in time")
					_, _ = io.Copy(w, r.Body)
				})
				var body io.Reader
				want := "in time"
				if test.body != nil {
					body = test.body()
					want += "content"
				}
				got := h.do(t, test.method, body, test.header...)
				require.NoError(t, got.err)
				assert.Equal(t, test.copies > 0, got.ambiguous)
				if test.copies == 0 {
					assert.Equal(t, hedgedResult{took: time.Second, status: 200, content: "late"}, *got)
					assert.Empty(t, h.events)
					return
				}
				assert.Equal(t, hedgedResult{took: hedgeWait + hedgeFast, status: 200, content: want, ambiguous: true}, *got)
				assert.Equal(t, []retryhedge.EventKind{retryhedge.Started, retryhedge.Won}, h.events)
				if l, ok := h.transport.Policy.Limiter.(*hedgeLimiter); ok {
					assert.EqualValues(t, 2, l.waits.Load(), "the copy waits, too")
				}
			})
		})
	}
}

func mayRepeat(may bool) func(*http.Request) bool { return func(*http.Request) bool { return may } }

type hedgeLimiter struct {
	waits atomic.Int32
	most  int32 // 0: no limit
	err   error // nil: io.EOF
}

func (l *hedgeLimiter) Wait(context.Context) error {
	if n := l.waits.Add(1); l.most > 0 && n > l.most {
		return cmp.Or(l.err, io.EOF)
	}
	return nil
}

// TestHedgeResponses: which response is used if the first arrives 100 ms after the request,
// and that to the copy 20 ms earlier.
func TestHedgeResponses(t *testing.T) {
	for name, test := range map[string]struct {
		method      string
		first, copy int
		status      int
		took        time.Duration
	}{
		"good":                    {http.MethodGet, 200, 200, 200, 80 * time.Millisecond},
		"not found":               {http.MethodGet, 200, 404, 404, 80 * time.Millisecond},
		"unavailable":             {http.MethodGet, 200, 503, 200, 100 * time.Millisecond},
		"throttled":               {http.MethodGet, 200, 429, 200, 100 * time.Millisecond},
		"both unavailable":        {http.MethodGet, 500, 503, 500, 100 * time.Millisecond},
		"deleted by the first":    {http.MethodDelete, 204, 404, 204, 100 * time.Millisecond},
		"not found by any":        {http.MethodDelete, 404, 404, 404, 100 * time.Millisecond},
		"conflict with the first": {http.MethodPut, 201, 409, 201, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inHedge(t, func(t *testing.T, h *hedged) {
				h.transport.Policy.MaxAttempts = 1
				h.handle = func(n int, w http.ResponseWriter, r *http.Request) {
					takes, status := 100*time.Millisecond, test.first
					if n == 2 {
						takes, status = hedgeFast, test.copy
					}
					time.Sleep(takes)
					w.WriteHeader(status)
				}
				got := h.do(t, test.method, nil)
				require.NoError(t, got.err)
				assert.Equal(t, test.status, got.status)
				assert.Equal(t, test.took, got.took)
				assert.True(t, got.ambiguous)
			})
		})
	}
}

// A copy that cannot be sent is no worse than none, whatever the error says.
func TestHedgeUnsentCopy(t *testing.T) {
	for name, change := range map[string]func(*hedged, *http.Request){
		"no body":        func(_ *hedged, req *http.Request) { req.GetBody = fails(io.EOF) },
		"a body is gone": func(_ *hedged, req *http.Request) { req.GetBody = fails(fs.ErrNotExist) },
		"no permits":     func(h *hedged, _ *http.Request) { h.transport.Policy.Limiter = &hedgeLimiter{most: 1} },
		"no more permits": func(h *hedged, _ *http.Request) {
			h.transport.Policy.Limiter = &hedgeLimiter{most: 1, err: retry.Permanent(io.EOF)}
		},
		"a strict Classifier": func(h *hedged, req *http.Request) {
			req.GetBody = fails(io.EOF)
			h.hedge.Classifier = retry.OnlyIf(func(error) bool { return false })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inHedge(t, func(t *testing.T, h *hedged) {
				h.handle = firstSlow(nil)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://server/", strings.NewReader("content"))
				require.NoError(t, err)
				change(h, req)
				start := time.Now()
				resp, err := h.client.Do(req)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				assert.Equal(t, time.Second, time.Since(start))
				assert.Equal(t, []retryhedge.EventKind{retryhedge.Started}, h.events)
			})
		})
	}
}

func fails(err error) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return nil, err }
}

// A response that is not used is closed while the caller reads the other.
func TestHedgeCloseLater(t *testing.T) {
	inHedge(t, func(t *testing.T, h *hedged) {
		base := h.transport.Base
		h.transport.Base = roundTripper(func(req *http.Request) (*http.Response, error) {
			resp, err := base.RoundTrip(req)
			if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
				resp.Body = slowlyClosed{resp.Body}
			}
			return resp, err
		})
		h.handle = func(n int, w http.ResponseWriter, r *http.Request) {
			time.Sleep(100 * time.Millisecond)
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, "begin ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Minute)
			_, _ = io.WriteString(w, "end")
		}
		assert.Equal(t, "begin end", h.do(t, http.MethodGet, nil).content)
	})
}

type slowlyClosed struct{ io.ReadCloser }

func (b slowlyClosed) Close() error {
	time.Sleep(time.Second)
	return b.ReadCloser.Close()
}

// The caller may use the request again once the response's body is closed, even if a copy
// that has lost has not ended.
func TestHedgeReuse(t *testing.T) {
	inHedge(t, func(t *testing.T, h *hedged) {
		base, paths := h.transport.Base, make(chan string, 1)
		h.transport.Base = roundTripper(func(req *http.Request) (*http.Response, error) {
			resp, err := base.RoundTrip(req)
			if err != nil {
				time.Sleep(time.Second)
				paths <- req.URL.Path
			}
			return resp, err
		})
		h.handle = func(n int, _ http.ResponseWriter, _ *http.Request) {
			time.Sleep([]time.Duration{0, 100 * time.Millisecond, time.Minute}[n])
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server/old", nil)
		require.NoError(t, err)
		resp, err := h.client.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		req.URL.Path = "/new"
		assert.Equal(t, "/old", <-paths)
	})
}

// An attempt with a copy that fails is one attempt, and the retry may have a copy again.
func TestHedgeRetry(t *testing.T) {
	inHedge(t, func(t *testing.T, h *hedged) {
		var infos []retryhttp.Info
		h.transport.Policy = retry.Policy{Backoff: retry.NoDelay{}, Hooks: retry.Hooks{
			OnRetry: func(ctx context.Context, _ retry.Attempt, _ time.Duration) {
				info, _ := retryhttp.InfoFrom(ctx)
				infos = append(infos, info)
			},
		}}
		h.transport.Sign = numbered
		var attempts []string
		h.handle = func(n int, w http.ResponseWriter, r *http.Request) {
			h.mu.Lock()
			attempts = append(attempts, r.Header.Get("Attempt"))
			h.mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			if n <= 2 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}
		got := h.do(t, http.MethodGet, nil)
		assert.Equal(t, 200, got.status)
		assert.Equal(t, []retryhttp.Info{{Method: "GET", URL: "http://server/", Attempt: 1, Status: 503, Copies: 1}}, infos)
		h.mu.Lock()
		defer h.mu.Unlock()
		assert.Equal(t, []string{"1", "1", "2", "2"}, attempts)
	})
}

// copying returns a Transport that sends a copy after each second without a response. Its
// base hears the number of each request, from 1.
func copying(base func(n int32, req *http.Request) (*http.Response, error)) *retryhttp.Transport {
	var requests atomic.Int32
	return &retryhttp.Transport{
		Base: roundTripper(func(req *http.Request) (*http.Response, error) {
			if req.Body != nil {
				_ = req.Body.Close()
			}
			return base(requests.Add(1), req)
		}),
		Policy: retry.Policy{Backoff: retry.NoDelay{}},
		Hedge:  &retryhedge.Hedge{After: time.Second, MaxCopies: 2, Budget: &awspreset.TokenBudget{Capacity: 1e9}},
	}
}

func respondAfter(d time.Duration, status int, req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(d):
		return &http.Response{StatusCode: status, Body: http.NoBody, Request: req}, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// The contexts of all copies have ended when the body of the response is closed.
func TestHedgeContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		contexts := make(chan context.Context, 3)
		transport := copying(func(n int32, req *http.Request) (*http.Response, error) {
			contexts <- req.Context()
			return respondAfter(time.Minute/time.Duration(n*n), 200, req)
		})
		resp, err := transport.RoundTrip(request(t, "PUT", "content"))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		synctest.Wait()
		for range 3 {
			assert.ErrorIs(t, (<-contexts).Err(), context.Canceled)
		}
	})
}

// GetBody, which is the caller's, is not called by two copies at a time.
func TestHedgeGetBody(t *testing.T) {
	var running atomic.Int32
	made := make(chan bool, 2)
	req := request(t, "PUT", "content")
	req.GetBody = func() (io.ReadCloser, error) {
		assert.EqualValues(t, 1, running.Add(1))
		time.Sleep(2 * time.Millisecond)
		running.Add(-1)
		made <- true
		return http.NoBody, nil
	}
	transport := copying(func(n int32, req *http.Request) (*http.Response, error) {
		if n > 1 {
			return respondAfter(time.Hour, 200, req)
		}
		<-made
		<-made
		return respondAfter(0, 200, req)
	})
	transport.Hedge.After = time.Microsecond
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

// The resends of a copy are resends of the call.
func TestHedgeResends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := copying(func(n int32, req *http.Request) (*http.Response, error) {
			if n == 2 {
				return nil, errGoAway
			}
			return respondAfter(time.Minute*time.Duration(3-n), 200, req) // at once to the third
		})
		var info retryhttp.Info
		transport.Policy.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
			return nil, func(retry.Attempt) { info, _ = retryhttp.InfoFrom(ctx) }
		}
		resp, err := transport.RoundTrip(request(t, "PUT", "content"))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, retryhttp.Info{Method: "PUT", URL: "http://host/path", Attempt: 1, Status: 200, Resends: 1, Copies: 1}, info)
	})
}

// A copy that waits for the Limiter while the call ends is not sent.
func TestHedgeTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests, waits atomic.Int32
		transport := copying(func(_ int32, req *http.Request) (*http.Response, error) {
			requests.Add(1)
			return respondAfter(2*time.Second, 200, req)
		})
		transport.Policy.Limiter = waiter(func() {
			if waits.Add(1) > 1 {
				time.Sleep(time.Hour) // and ignores its context
			}
		})
		resp, err := transport.RoundTrip(request(t, "PUT", "content"))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		time.Sleep(2 * time.Hour)
		assert.EqualValues(t, 1, requests.Load())
	})
}

// A response is ambiguous after an attempt with copies, not after one that sent nothing.
func TestHedgeAmbiguous(t *testing.T) {
	for name, first := range map[string]func(*http.Request) (*http.Response, error){
		"unsent":    func(*http.Request) (*http.Response, error) { return nil, errDial },
		"throttled": func(req *http.Request) (*http.Response, error) { return respondAfter(1500*time.Millisecond, 429, req) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := copying(func(_ int32, req *http.Request) (*http.Response, error) {
					if retryhttp.AttemptNumber(req.Context()) == 1 {
						return first(req)
					}
					return respondAfter(0, 200, req)
				})
				resp, err := transport.RoundTrip(request(t, "PUT", "content"))
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				assert.Equal(t, 2, retryhttp.AttemptNumber(resp.Request.Context()))
				assert.Equal(t, name == "throttled", retryhttp.Ambiguous(resp))
			})
		})
	}
}

// An invalid Hedge sends nothing and closes the request's body.
func TestHedgeInvalid(t *testing.T) {
	body := &closedReader{Reader: strings.NewReader("content")}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://server.invalid/", nil)
	require.NoError(t, err)
	req.Body, req.GetBody = body, func() (io.ReadCloser, error) { return nil, io.EOF }
	_, err = (&retryhttp.Transport{Hedge: &retryhedge.Hedge{Share: 2}}).RoundTrip(req)
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.True(t, body.closed)
}

// The panic of a copy is the error of the call, also if the first request gets a response after it.
func TestHedgePanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := &body{Reader: strings.NewReader("late")}
		transport := copying(func(n int32, req *http.Request) (*http.Response, error) {
			if n > 1 {
				panic("broken")
			}
			time.Sleep(time.Hour) // and ignores its context
			return &http.Response{StatusCode: http.StatusOK, Body: late, Request: req}, nil
		})
		_, err := transport.RoundTrip(request(t, "GET", ""))
		panicked, _ := errors.AsType[*retryhedge.PanicError](err)
		require.NotNil(t, panicked, err)
		assert.Equal(t, "broken", panicked.Value)
		assert.Equal(t, 1, late.closed)
	})
}

type closedReader struct {
	io.Reader
	closed bool
}

func (r *closedReader) Close() error { r.closed = true; return nil }

var hedgeCalls = flag.Int("hedge.calls", 200, "calls that TestHedgeSoak makes with each version of HTTP")

// TestHedgeSoak makes calls that fail or are canceled at random moments, and whose copies
// start at once. No goroutine, connection or body may be left. The long form is
//
//	go test -race -v -run TestHedgeSoak ./retryhttp -hedge.calls 10000
func TestHedgeSoak(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		content := bytes.Repeat([]byte("content "), 1<<10)
		s := newServer(t, protocol, func(x *exchange) {
			_, _ = io.Copy(io.Discard, x.request.Body)
			if n := rand.IntN(10); n < 3 {
				time.Sleep(time.Duration(n) * time.Millisecond)
			} else if n == 3 {
				select {
				case <-x.request.Context().Done():
				case <-time.After(time.Second): // the copy may hang, too
				}
			}
			if rand.IntN(5) == 0 {
				x.WriteHeader([]int{http.StatusConflict, http.StatusServiceUnavailable}[rand.IntN(2)])
			}
			_, _ = x.Write(content)
		})
		s.base.MaxIdleConnsPerHost = 32
		r := &hedgeSoak{url: s.URL, content: content}
		hedge := &retryhedge.Hedge{After: 500 * time.Microsecond, Budget: &awspreset.TokenBudget{Capacity: 1e9}, OnEvent: func(_ context.Context, e retryhedge.Event) {
			if e.Kind == retryhedge.Won {
				r.won.Add(1)
			}
			r.events.Add(1)
		}}
		for _, base := range []http.RoundTripper{s.base, &countingBase{s.base, &r.responses}} {
			tr := s.transport()
			tr.Base, tr.Hedge = base, hedge
			r.client = &http.Client{Transport: tr}
			r.run(t, *hedgeCalls/2)
		}
		eventually(t, "request bodies are left", func() bool { return r.requests.Load() == 0 })
		eventually(t, "response bodies are left", func() bool { return r.responses.Load() == 0 })
		assert.Positive(t, r.won.Load())
		t.Logf("%d calls: %d good, %d canceled; %d events, %d won by the copy", *hedgeCalls, r.good.Load(), r.canceled.Load(), r.events.Load(), r.won.Load())
	})
}

type hedgeSoak struct {
	url     string
	content []byte
	client  *http.Client

	requests, responses         atomic.Int64 // open bodies
	good, canceled, events, won atomic.Int64
}

func (r *hedgeSoak) run(t *testing.T, calls int) {
	var workers sync.WaitGroup
	for worker := range 16 {
		workers.Go(func() {
			for i := worker; i < calls; i += 16 {
				r.call(t)
			}
		})
	}
	workers.Wait()
}

// call may be canceled before, during and after its copy, and while the body is read.
func (r *hedgeSoak) call(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if rand.IntN(2) == 0 {
		defer time.AfterFunc(time.Duration(rand.IntN(8000))*time.Microsecond, cancel).Stop()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, r.url, nil)
	assert.NoError(t, err)
	if rand.IntN(2) == 0 {
		req.GetBody = func() (io.ReadCloser, error) {
			r.requests.Add(1)
			return &countedBody{ReadCloser: io.NopCloser(bytes.NewReader(r.content)), open: &r.requests}, nil
		}
		req.Body, _ = req.GetBody()
		req.ContentLength = int64(len(r.content))
	}
	resp, err := r.client.Do(req)
	if err != nil {
		assert.ErrorIs(t, ctx.Err(), context.Canceled, "an error, not a response: %v", err)
		r.canceled.Add(1)
		return
	}
	if rand.IntN(4) > 0 {
		if content, err := io.ReadAll(resp.Body); err == nil {
			assert.Len(t, content, len(r.content))
			r.good.Add(1)
		} else {
			assert.ErrorIs(t, ctx.Err(), context.Canceled, "nobody else ends the context of a response: %v", err)
		}
	}
	assert.NoError(t, resp.Body.Close())
}

// countingBase counts the open bodies of its responses.
type countingBase struct {
	http.RoundTripper
	open *atomic.Int64
}

func (b *countingBase) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(req)
	if err == nil {
		b.open.Add(1)
		resp.Body = &countedBody{ReadCloser: resp.Body, open: b.open}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	open *atomic.Int64
	once sync.Once
}

func (b *countedBody) Close() error {
	b.once.Do(func() { b.open.Add(-1) })
	return b.ReadCloser.Close()
}

type waiter func()

func (w waiter) Wait(context.Context) error { w(); return nil }
