package retryhttp_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strconv"
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
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

// TestSignsWithDeadline: the context has the earlier of two deadlines.
func TestSignsWithDeadline(t *testing.T) {
	for _, tt := range []struct {
		attempt, call time.Duration
		want          []string
	}{
		{0, 0, nil},
		{2 * time.Second, 0, []string{"2000"}},
		{2 * time.Second, 1500 * time.Millisecond, []string{"1500"}},
		{0, 1500 * time.Millisecond, []string{"1500"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			base := &script{replies: []reply{{status: 200}}}
			transport := &retryhttp.Transport{Base: base, Sign: announce, Policy: retry.Policy{AttemptTimeout: tt.attempt}}
			req := request(t, "GET", "")
			if tt.call > 0 {
				ctx, cancel := context.WithTimeout(t.Context(), tt.call)
				defer cancel()
				req = req.WithContext(ctx)
			}
			resp, err := transport.RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, tt.want, base.requests[0].Header["Time-Left"])
			assert.Empty(t, req.Header, "the caller's headers")
		})
	}
}

func announce(req *http.Request) (retryhttp.Refused, error) {
	deadline, ok := req.Context().Deadline()
	if ok {
		req.Header.Set("Time-Left", strconv.FormatInt(time.Until(deadline).Milliseconds(), 10))
	}
	return nil, nil
}

func TestWithoutRetry(t *testing.T) {
	base := &script{replies: []reply{{status: 429}}}
	p := quick()
	p.AttemptTimeout = time.Hour
	p.OnAttempt = func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { panic("observed") }
	transport := &retryhttp.Transport{Base: base, Policy: p, MaxBuffer: 100}
	req := request(t, "PUT", "content")
	req = req.WithContext(retryhttp.WithoutRetry(req.Context()))
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, 429, resp.StatusCode)
	require.Len(t, base.requests, 1)
	assert.Same(t, req, base.requests[0])
	// The innermost context wins.
	req = req.WithContext(retryhttp.WithPolicy(req.Context(), quick()))
	req.Body, _ = req.GetBody()
	_, err = transport.RoundTrip(req)
	require.NoError(t, err)
	assert.Len(t, base.requests, 1+3)
}

func TestCloseIdleConnections(t *testing.T) {
	base := &idle{}
	(&http.Client{Transport: &retryhttp.Transport{Base: &retryhttp.Transport{Base: base}}}).CloseIdleConnections()
	assert.Equal(t, 1, base.closed)
	(&http.Client{Transport: &retryhttp.Transport{Base: roundTripper(nil)}}).CloseIdleConnections()
}

type idle struct {
	http.RoundTripper
	closed int
}

func (i *idle) CloseIdleConnections() { i.closed++ }

// TestClient checks redirects and cookies.
func TestClient(t *testing.T) {
	var paths []string
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		paths = append(paths, req.Method+" "+req.URL.Path)
		resp := &http.Response{StatusCode: 503, Header: http.Header{}, Body: http.NoBody}
		switch {
		case len(paths)%2 == 1: // the first attempt at each path fails
		case req.URL.Path == "/path":
			resp.StatusCode = http.StatusTemporaryRedirect
			resp.Header.Set("Location", "/moved")
			resp.Header.Set("Set-Cookie", "a=b")
		default:
			resp.StatusCode = 200
			cookie, err := req.Cookie("a")
			require.NoError(t, err)
			assert.Equal(t, "b", cookie.Value)
		}
		return resp, nil
	})
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar, Transport: &retryhttp.Transport{Base: base, Policy: quick()}}
	resp, err := client.Do(request(t, "PUT", "content"))
	require.NoError(t, err)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, []string{"PUT /path", "PUT /path", "PUT /moved", "PUT /moved"}, paths)
}

// TestLayers: the attempts of two layers do not multiply.
func TestLayers(t *testing.T) {
	for _, o := range []reply{{status: 503}, {status: 429}, {err: errReset}, {err: errDial}} {
		base := &script{replies: []reply{o}}
		inner := &retryhttp.Transport{Base: base, Policy: quick()}
		_, _ = (&retryhttp.Transport{Base: inner, Policy: quick()}).RoundTrip(request(t, "GET", ""))
		assert.Len(t, base.requests, 3, "Transport, %+v", o)

		base.requests = nil
		calls := 0
		err := retry.Do(t.Context(), quick(), func(context.Context) error {
			calls++
			resp, err := inner.RoundTrip(request(t, "GET", ""))
			if err != nil {
				return err
			}
			return retryhttp.CheckStatus(resp)
		})
		require.Error(t, err)
		assert.Equal(t, 1, calls, "Do, %+v", o)
		assert.Len(t, base.requests, 3, "Do, %+v", o)
	}
	base := &script{replies: []reply{{status: 503}, {status: 503}, {status: 200}}}
	resp, err := (&retryhttp.Transport{Base: &retryhttp.Transport{Base: base, Policy: quick()}, Policy: quick()}).RoundTrip(request(t, "GET", ""))
	require.NoError(t, err)
	assert.Equal(t, 200, resp.StatusCode)
	assert.NoError(t, retryhttp.CheckStatus(resp))
}

// TestLayersOfTransports: a Transport retries what the one below would have retried, but made its
// only attempt, and otherwise passes on what that one has found.
func TestLayersOfTransports(t *testing.T) {
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		status         int
		below, above   error // of Check
		attemptsBelow  int
		requests       int
		gaveUp, failed bool // as CheckStatus says
	}{
		"one attempt, a status":        {503, nil, nil, retry.NoRetry, 3, true, false},
		"one attempt, Check":           {200, failed, failed, retry.NoRetry, 3, true, true},
		"one attempt, permanent":       {404, nil, nil, retry.NoRetry, 1, false, false},
		"two attempts, a status":       {503, nil, failed, 2, 2, true, false},
		"two attempts, Check":          {200, failed, nil, 2, 2, true, true},
		"two attempts, permanent":      {503, retry.Permanent(failed), nil, 2, 1, false, true},
		"only the one above has Check": {200, nil, failed, 2, 3, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			base := &script{replies: []reply{{status: tt.status}}}
			below, above := quick(), quick()
			below.MaxAttempts = tt.attemptsBelow
			checks := func(found error) func(*http.Response, func(int) ([]byte, error)) error {
				return func(*http.Response, func(int) ([]byte, error)) error { return found }
			}
			inner := &retryhttp.Transport{Base: base, Policy: below, Check: checks(tt.below)}
			resp, err := (&retryhttp.Transport{Base: inner, Policy: above, Check: checks(tt.above)}).RoundTrip(request(t, "GET", ""))
			require.NoError(t, err)
			assert.Equal(t, tt.status, resp.StatusCode)
			assert.Len(t, base.requests, tt.requests)
			err = retryhttp.CheckStatus(resp)
			require.Error(t, err)
			v := retry.Policy{}.Classify(err)
			assert.Equal(t, tt.gaveUp, v.GaveUp)
			assert.Equal(t, !tt.gaveUp, v.Class == retry.ClassPermanent)
			assert.Equal(t, tt.failed, errors.Is(err, failed))
		})
	}
	base := &script{replies: []reply{{err: errReset}, {status: 412}}}
	inner := &retryhttp.Transport{Base: base, Policy: quick()}
	resp, err := (&retryhttp.Transport{Base: inner, Policy: quick()}).RoundTrip(request(t, "PUT", ""))
	require.NoError(t, err)
	assert.True(t, retryhttp.Ambiguous(resp))
}

// TestCancelEndsWait: Request.Cancel, which the Timeout of an http.Client sets, too, ends the
// wait before a retry.
func TestCancelEndsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, given := range []retry.Clock{nil, retry.SystemClock{}} {
			base := &script{replies: []reply{{status: 503}}}
			transport := &retryhttp.Transport{Base: base, Policy: retry.Policy{Backoff: retry.Constant(time.Hour), Clock: given}}
			canceled := make(chan struct{})
			req := request(t, "GET", "")
			//lint:ignore SA1019 programs still use it
			req.Cancel = canceled
			start := time.Now()
			time.AfterFunc(time.Second, func() { close(canceled) })
			_, err := transport.RoundTrip(req)
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, time.Second, time.Since(start))
			assert.Len(t, base.requests, 1)
		}
	})
}

// TestLimiterUntilMaxElapsed: with a Request.Cancel, too, a Limiter waits no longer than MaxElapsed.
func TestLimiterUntilMaxElapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &retryhttp.Transport{Base: &script{}, Policy: retry.Policy{MaxElapsed: time.Second, Limiter: untilDone{}}}
		req := request(t, "GET", "")
		//lint:ignore SA1019 programs still use it
		req.Cancel = make(chan struct{})
		start := time.Now()
		_, err := transport.RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrMaxElapsed)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

// untilDone is a Limiter that lets nothing through.
type untilDone struct{}

func (untilDone) Wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestCancelEndsLimiter: Request.Cancel ends the wait for a Limiter, also the Transport's own. A
// Limiter still hears of responses.
func TestCancelEndsLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := &retryhttp.Transport{Base: answers(func(*http.Request) (int, http.Header) { return 429, told(100, 0, time.Minute) })}
		for range 2 { // the second is a probe
			_, err := send(t, own, time.Second, nil)
			require.NoError(t, err)
		}
		for _, transport := range []*retryhttp.Transport{{Base: &script{}, Policy: retry.Policy{Limiter: untilDone{}}}, own} {
			start, canceled := time.Now(), make(chan struct{})
			_, err := send(t, transport, time.Hour, func(req *http.Request) {
				//lint:ignore SA1019 programs still use it
				req.Cancel = canceled
				time.AfterFunc(time.Second, func() { close(canceled) })
			})
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, time.Second, time.Since(start))
		}
	})
	base := &script{replies: []reply{{status: 200, header: "RateLimit: limit=100, remaining=90, reset=20"}}}
	limiter, counting := &ratelimit.Limiter{}, &countingLimiter{}
	transport := &retryhttp.Transport{Base: base, Policy: retry.Policy{Limiter: limiter}}
	transport.PerScope = &retryhttp.PerScope{New: func(string) retry.Limiter { return counting }}
	resp, err := (&http.Client{Transport: transport, Timeout: time.Hour}).Do(request(t, "GET", ""))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Len(t, limiter.Stats().States, 1)
	assert.Equal(t, countingLimiter{1, 1}, *counting)
}

// TestUnknownAtDeadline: if the context ends while a POST is in progress, the error says that the
// server may have executed it, unless it was not sent.
func TestUnknownAtDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := roundTripper(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		dialing := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(time.Minute)
			return nil, errReset
		}}
		defer time.Sleep(time.Hour)
		for _, tt := range []struct {
			method  string
			base    http.RoundTripper
			unknown bool
		}{{"POST", sent, true}, {"GET", sent, false}, {"POST", dialing, false}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := (&retryhttp.Transport{Base: tt.base}).RoundTrip(request(t, tt.method, "").WithContext(ctx))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, tt.unknown, errors.Is(err, retry.ErrUnrepeatable), err)
		}
	})
}

// TestInvalidPolicy: a policy that Validate reports is refused before anything is sent.
func TestInvalidPolicy(t *testing.T) {
	sent := 0
	base := roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	resp, err := (&retryhttp.Transport{Base: base, Policy: retry.Policy{Budget: (*awspreset.TokenBudget)(nil)}}).RoundTrip(request(t, "GET", ""))
	assert.Nil(t, resp)
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.ErrorContains(t, err, "Budget is a nil *awspreset.TokenBudget")
	assert.Zero(t, sent)
	_, err = (&retryhttp.Transport{Base: base, Policy: retry.Policy{Backoff: retry.FullJitter{Base: 5}}}).RoundTrip(request(t, "GET", ""))
	assert.ErrorContains(t, err, "is its unit missing?")
	assert.Zero(t, sent)
}

// silentConn is a connection whose other end has gone without a word.
type silentConn struct {
	net.Conn
	dead   *atomic.Bool
	closed chan struct{}
	once   sync.Once
}

func (c *silentConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.dead.Load() {
		return n, err
	}
	<-c.closed
	return 0, net.ErrClosed
}

func (c *silentConn) Write(p []byte) (int, error) {
	if c.dead.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *silentConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestDeadConnection: the requests of a client leave a dead HTTP/2 connection, also one of the
// Transport's own. The program's http.DefaultTransport stays as it is.
func TestDeadConnection(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := memnet.New()
				server := &httptest.Server{Listener: network, Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}, EnableHTTP2: true}
				server.StartTLS()
				defer server.Close()
				base := server.Client().Transport.(*http.Transport)
				var dead atomic.Bool
				dials := 0
				base.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
					conn, err := network.Dial(ctx, "", "")
					dials++
					if dials > 1 {
						return conn, err
					}
					return &silentConn{Conn: conn, dead: &dead, closed: make(chan struct{})}, err
				}
				before := http.DefaultTransport
				http.DefaultTransport = base
				defer func() { http.DefaultTransport = before }()
				client := retryhttp.NewClient(retry.Policy{AttemptTimeout: 4 * time.Second, MaxAttempts: 10, Backoff: retry.NoDelay{}})
				defer client.CloseIdleConnections()
				send := func() error {
					req, err := http.NewRequestWithContext(t.Context(), method, "https://example.com/", nil)
					require.NoError(t, err)
					resp, err := client.Do(req)
					if err != nil {
						return err
					}
					assert.Equal(t, 2, resp.ProtoMajor)
					return resp.Body.Close()
				}
				require.NoError(t, send())
				dead.Store(true)
				start := time.Now()
				for send() != nil && time.Since(start) < time.Hour { // a POST is not repeated
				}
				assert.LessOrEqual(t, time.Since(start), 20*time.Second)
				assert.Equal(t, 2, dials)
				assert.Nil(t, base.HTTP2)
			})
		})
	}
}

// TestReplacedDefaultTransport: a client uses what a program, or a test, puts in the place of
// http.DefaultTransport.
func TestReplacedDefaultTransport(t *testing.T) {
	client := retryhttp.NewClient(retry.Policy{})
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	called := false
	http.DefaultTransport = roundTripper(func(req *http.Request) (*http.Response, error) {
		called = true
		return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
	})
	resp, err := client.Get("http://example.com/")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.True(t, called)
}
