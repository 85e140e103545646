package retryhttp_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

// TestPanics: a panic in one of the policy's functions leaves no body or connection
// open.
func TestPanics(t *testing.T) {
	boom := func(context.Context, retry.Attempt, time.Duration) { panic("boom") }
	for name, p := range map[string]retry.Policy{
		"OnRetry":    {Hooks: retry.Hooks{OnRetry: boom}},
		"Classifier": {Classifier: retry.ClassifierFunc(func(error) retry.Verdict { panic("boom") })},
		"OnGiveUp":   {Hooks: retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) { panic("boom") }}, MaxAttempts: 1},
	} {
		base := &script{replies: []reply{{status: 503}}}
		p.Clock = &retrytest.Clock{}
		assert.Panics(t, func() { _, _ = (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", "")) }, name)
		assert.Positive(t, base.responses[0].closed, name)
	}
	t.Run("before the first attempt", func(t *testing.T) {
		sent := &body{Reader: strings.NewReader("content")}
		req := request(t, "PUT", "")
		req.Body = sent
		p := retry.Policy{Hooks: retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { panic("boom") }}}
		assert.Panics(t, func() { _, _ = (&retryhttp.Transport{Policy: p}).RoundTrip(req) })
		assert.Equal(t, 1, sent.closed)
	})
}

// TestAttemptTimeoutOfForeignErrors: what a Base returns after the limit of the attempt is a
// timeout, during the request and within Read.
func TestAttemptTimeoutOfForeignErrors(t *testing.T) {
	stalled := errors.New("stalled")
	for name, base := range map[string]roundTripper{
		"request": func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, stalled
		},
		"body": func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(readerFunc(func([]byte) (int, error) {
				<-req.Context().Done()
				return 0, stalled
			}))}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var classes []retry.Class
				p := quick()
				p.AttemptTimeout, p.MaxAttempts = time.Second, 2
				p.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
					classes = append(classes, failed.Class)
				}
				client := &http.Client{Transport: &retryhttp.Transport{Base: base, Policy: p}}
				_, _, err := retryhttp.Read(client, request(t, "GET", ""))
				assert.ErrorIs(t, err, stalled)
				assert.Equal(t, []retry.Class{retry.ClassTimeout}, classes)
			})
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestAttemptTimeoutEndsBody(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newServer(t, protocol, func(x *exchange) {
			x.begin(http.StatusOK, 100, content)
			<-x.request.Context().Done()
		})
		transport := s.transport()
		transport.Policy.AttemptTimeout, transport.Policy.MaxAttempts = 50*time.Millisecond, math.MaxInt
		o := get.request(t, s.URL, "").send(t, transport)
		require.NoError(t, o.err)
		assert.ErrorIs(t, o.bodyErr, context.DeadlineExceeded)
	})
}

// TestSwitchedProtocol: the caller can write to the connection, and no time limit
// applies to it.
func TestSwitchedProtocol(t *testing.T) {
	echo := func(x *exchange) {
		c, buffered, err := http.NewResponseController(x.ResponseWriter).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_, _ = io.Copy(c, buffered)
		_ = c.Close()
	}
	for _, limit := range []time.Duration{0, time.Hour} {
		t.Run("AttemptTimeout="+limit.String(), func(t *testing.T) {
			leaveNothing(t)
			s := newServer(t, http1, respond(503, "later"), echo)
			transport := s.transport()
			transport.Policy.AttemptTimeout = limit
			req := get.request(t, s.URL, "")
			req.Header.Set("Connection", "Upgrade")
			req.Header.Set("Upgrade", "echo")
			resp, err := transport.RoundTrip(req.Request)
			require.NoError(t, err)
			require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
			require.Implements(t, (*io.ReadWriteCloser)(nil), resp.Body)
			_, err = io.WriteString(resp.Body.(io.Writer), content)
			require.NoError(t, err)
			heard := make([]byte, len(content))
			_, err = io.ReadFull(resp.Body, heard)
			require.NoError(t, err)
			assert.Equal(t, content, string(heard))
			require.NoError(t, resp.Body.Close())
		})
	}
}

// endless stalls within a body until the client disconnects.
func endless(x *exchange) {
	x.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(x, "wait for it")
	_ = http.NewResponseController(x.ResponseWriter).Flush()
	<-x.request.Context().Done()
	abort(x)
}

// unknown sends a body of unannounced length.
func unknown(length int) step {
	return func(x *exchange) {
		x.WriteHeader(http.StatusServiceUnavailable)
		_ = http.NewResponseController(x.ResponseWriter).Flush()
		_, _ = io.WriteString(x, text(length))
	}
}

type visitClock struct {
	retrytest.Clock
	visit func()
}

func (c *visitClock) Sleep(ctx context.Context, d time.Duration) error {
	c.visit()
	return c.Clock.Sleep(ctx, d)
}

// TestFailedResponsesHoldNoConnection: during the wait, the failed response's
// connection is free, and the retry reuses it if the response was short. Failsafe-go
// leaves these bodies open: ten attempts take ten connections, and if only one
// connection is allowed, the second attempt never begins. Go-retryablehttp does not
// reuse the connection of a response with more than 4 KiB.
func TestFailedResponsesHoldNoConnection(t *testing.T) {
	for _, c := range []struct {
		name     string
		failure  step
		attempts int
		conns1   int64 // connections over HTTP/1.1; HTTP/2 needs one
	}{
		{"empty body", respond(503, ""), 10, 1},
		{"20 KB", respond(503, text(20_000)), 10, 1},
		{"20 KB of unknown length", unknown(20_000), 10, 1},
		{"64 KiB", respond(503, text(64<<10)), 10, 1},
		{"1 MiB", respond(503, text(1<<20)), 5, 5},
		{"1 MiB of unknown length", unknown(1 << 20), 5, 5},
		{"stalled body", endless, 3, 3},
	} {
		for _, most := range []int{0, 1} {
			t.Run(c.name+map[int]string{0: "", 1: "/one connection"}[most], func(t *testing.T) {
				overBoth(t, func(t *testing.T, protocol string) {
					want := int64(1)
					if protocol == http1 {
						want = c.conns1
					}
					opened := int64(0)
					for n := 0; n < 50 && opened != want; n++ { // on a busy machine, even a short response may take longer than maxDrainTime
						s := newServer(t, protocol, append(slices.Repeat([]step{c.failure}, c.attempts-1), ok)...)
						s.base.MaxConnsPerHost = most
						transport := s.transport()
						transport.Policy.MaxAttempts, transport.Policy.Budget = c.attempts, retry.NoBudget{}
						// If the only connection is not free during the wait, this request
						// hangs.
						clock := &visitClock{visit: func() { s.warm(t, s.base) }}
						transport.Policy.Clock = clock
						post.request(t, s.URL, text(10)).withKey().send(t, transport).isRight(t)
						assert.Len(t, clock.Waits(), c.attempts-1)
						opened = s.opened.Load()
					}
					assert.Equal(t, want, opened)
				})
			})
		}
	}
}

// TestOwnHeaders: a Base such as a signer may change the headers of an attempt in
// place.
func TestOwnHeaders(t *testing.T) {
	for _, header := range []http.Header{{"A": {"1"}}, nil} {
		sent := 0
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			sent++
			assert.Empty(t, req.Header["Signature"])
			req.Header.Add("Signature", "s")
			req.Header.Add("A", "2")
			assert.Len(t, req.Header["A"], len(header)+1)
			return &http.Response{StatusCode: 503}, nil
		})
		req := request(t, "GET", "")
		req.Header = header
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, 3, sent)
		assert.Len(t, header, min(1, len(header)))
	}
}

func TestResponses(t *testing.T) {
	for _, last := range []reply{{status: 200}, {status: 404}, {status: 503}} {
		t.Run(fmt.Sprint(last.status), func(t *testing.T) {
			base := &script{replies: []reply{{status: 503}, {status: 503}, last}}
			p := quick()
			waits := 0
			p.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
				waits++
				assert.Equal(t, 1, base.responses[waits-1].closed, "closed before the wait")
				assert.Zero(t, base.responses[waits-1].Len(), "read to the end")
				assert.EqualError(t, failed.Err, "503 Service Unavailable")
			}
			resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", ""))
			require.NoError(t, err)
			assert.Equal(t, 2, waits)
			assert.Equal(t, last.status, resp.StatusCode)
			assert.Zero(t, base.responses[2].closed)
			content, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, "response 3", string(content))
			assert.Equal(t, 3, retryhttp.AttemptNumber(resp.Request.Context()))
		})
	}
}

func TestEnds(t *testing.T) {
	unavailable, busy := reply{status: 503}, reply{429, "Retry-After: 61", nil}
	for _, tt := range []struct {
		name   string
		method string
		policy func(*retry.Policy)
		last   reply
		sent   int
		reason error
	}{
		{"attempts", "GET", nil, unavailable, 3, retry.ErrMaxAttempts},
		{"attempts, no response", "GET", nil, reply{err: errReset}, 3, retry.ErrMaxAttempts},
		{"permanent", "GET", nil, reply{status: 404}, 1, retry.ErrPermanent},
		{"permanent, no response", "GET", nil, reply{err: x509.UnknownAuthorityError{}}, 1, retry.ErrPermanent},
		{"not safe", "POST", nil, unavailable, 1, retry.ErrUnrepeatable},
		{"not safe, no response", "POST", nil, reply{err: errReset}, 1, retry.ErrUnrepeatable},
		{"budget", "GET", func(p *retry.Policy) { p.Budget = &awspreset.TokenBudget{Capacity: 14} }, unavailable, 2, retry.ErrBudget},
		{"elapsed", "GET", func(p *retry.Policy) { p.MaxElapsed = time.Microsecond }, unavailable, 1, retry.ErrMaxElapsed},
		{"hint", "GET", nil, busy, 1, retry.ErrHint},
		{"hint, custom rule", "GET", func(p *retry.Policy) { p.Hint = retry.HintAtLeast{} }, busy, 3, retry.ErrMaxAttempts},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := &script{replies: []reply{tt.last}}
			p := quick()
			if tt.policy != nil {
				tt.policy(&p)
			}
			var ended *retry.Error
			p.OnGiveUp = func(_ context.Context, e *retry.Error) { ended = e }
			resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, tt.method, ""))
			assert.Len(t, base.requests, tt.sent)
			assert.ErrorIs(t, ended.Reason, tt.reason)
			if tt.last.err == nil {
				require.NoError(t, err)
				assert.Equal(t, tt.last.status, resp.StatusCode)
				assert.Zero(t, base.responses[tt.sent-1].closed)
				return
			}
			assert.Nil(t, resp)
			require.ErrorIs(t, err, tt.last.err)
			_, gaveUp := err.(*retry.Error)
			assert.Equal(t, tt.reason != retry.ErrPermanent, gaveUp)
		})
	}
}

func TestRequestIsKept(t *testing.T) {
	base := &script{replies: []reply{{status: 503}}}
	req := request(t, "PUT", "content")
	req.Header.Set("A", "b")
	kept, original := *req, req.Header.Clone()
	transport := retryhttp.Transport{Base: base, Policy: quick(), Sign: numbered}
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)

	assert.Equal(t, original, req.Header)
	assert.True(t, kept.Body == req.Body)
	assert.NotNil(t, req.GetBody)
	assert.Equal(t, []string{"content", "content", "content"}, base.bodies)
	for i, sent := range base.requests {
		assert.NotSame(t, req, sent)
		assert.Equal(t, fmt.Sprint(i+1), sent.Header.Get("Attempt"))
		assert.Equal(t, "b", sent.Header.Get("A"))
		assert.Equal(t, i+1, retryhttp.AttemptNumber(sent.Context()))
		assert.Nil(t, sent.GetBody, "net/http would use it")
		assert.Equal(t, int64(7), sent.ContentLength)
	}
	assert.Equal(t, base.requests[2].Header, resp.Request.Header)
	assert.Zero(t, retryhttp.AttemptNumber(t.Context()))

	t.Run("without a header", func(t *testing.T) {
		req := request(t, "GET", "")
		req.Header = nil
		_, err := transport.RoundTrip(req)
		require.NoError(t, err)
		assert.Nil(t, req.Header)
	})
}

func TestContexts(t *testing.T) {
	shutdown := errors.New("shutting down")
	t.Run("ended before", func(t *testing.T) {
		base := &script{replies: []reply{{status: 200}}}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(shutdown)
		sent := &body{Reader: strings.NewReader("content")}
		req := request(t, "PUT", "").WithContext(ctx)
		req.Body = sent
		resp, err := (&retryhttp.Transport{Base: base, MaxBuffer: 100}).RoundTrip(req)
		assert.Nil(t, resp)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, shutdown)
		assert.Empty(t, base.requests)
		assert.Equal(t, 1, sent.closed)
		assert.Equal(t, 7, sent.Len(), "not read")
	})
	t.Run("ended during the wait", func(t *testing.T) {
		base := &script{replies: []reply{{status: 503}}}
		ctx, cancel := context.WithCancelCause(t.Context())
		p := retry.Policy{Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { cancel(shutdown) }}}
		resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", "").WithContext(ctx))
		assert.Nil(t, resp)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, shutdown)
		last, ok := errors.AsType[*retryhttp.StatusError](err)
		require.True(t, ok)
		assert.Equal(t, 503, last.HTTPStatusCode())
		assert.Equal(t, 1, base.responses[0].closed)
	})
	t.Run("ended with the response", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		last := &body{Reader: strings.NewReader("")}
		base := roundTripper(func(*http.Request) (*http.Response, error) {
			cancel()
			return &http.Response{StatusCode: 503, Body: last}, nil
		})
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", "").WithContext(ctx))
		assert.Nil(t, resp)
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 1, last.closed)
	})
	t.Run("ended with a permanent response", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		last := &body{Reader: strings.NewReader("")}
		base := roundTripper(func(*http.Request) (*http.Response, error) {
			cancel()
			return &http.Response{StatusCode: 409, Body: last}, nil
		})
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", "").WithContext(ctx))
		require.NoError(t, err, "no retry was due")
		assert.Equal(t, 409, resp.StatusCode)
		assert.Zero(t, last.closed)
	})
	t.Run("a deadline before the next attempt", func(t *testing.T) {
		base := &script{replies: []reply{{503, "Retry-After: 30", nil}}}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		resp, err := (&retryhttp.Transport{Base: base}).RoundTrip(request(t, "GET", "").WithContext(ctx))
		require.NoError(t, err)
		assert.Equal(t, 503, resp.StatusCode)
		assert.Equal(t, "30", resp.Header.Get("Retry-After"))
		assert.Zero(t, base.responses[0].closed)
	})
}

func TestBadBase(t *testing.T) {
	t.Run("neither a response nor an error", func(t *testing.T) {
		calls := 0
		base := roundTripper(func(*http.Request) (*http.Response, error) { calls++; return nil, nil })
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
		assert.ErrorContains(t, err, "neither a response nor an error")
		assert.Equal(t, 1, calls)
	})
	t.Run("no body", func(t *testing.T) {
		base := roundTripper(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 503}, nil })
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		assert.Equal(t, http.NoBody, resp.Body)
	})
	t.Run("panic", func(t *testing.T) {
		base := roundTripper(func(*http.Request) (*http.Response, error) { panic("boom") })
		assert.PanicsWithValue(t, "boom", func() {
			_, _ = (&retryhttp.Transport{Base: base}).RoundTrip(request(t, "GET", ""))
		})
	})
}

// TestBudgets: an unrepeatable failure leaves the budget unchanged; a permanent
// response adds to it, as a success does. What Base sends again by itself is paid for, but for the first
// time in a call.
func TestBudgets(t *testing.T) {
	for _, tt := range []struct {
		method string
		reply  reply
		writes int
		want   float64
	}{
		{"POST", reply{status: 200}, 0, 11},
		{"POST", reply{status: 404}, 0, 11},
		{"POST", reply{status: 503}, 0, 10},
		{"POST", reply{err: errReset}, 0, 10},
		{"GET", reply{status: 503}, 0, 6},
		{"GET", reply{status: 200}, 2, 11},
		{"GET", reply{status: 200}, 4, 7},
	} {
		bucket := &awspreset.TokenBudget{Capacity: 20, Deficit: 10, Costs: awspreset.TokenCosts{Transient: 2}}
		p := quick()
		p.Budget = bucket
		answer := &script{replies: []reply{tt.reply}}
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			for range tt.writes {
				httptrace.ContextClientTrace(req.Context()).WroteHeaders()
			}
			return answer.RoundTrip(req)
		})
		_, _ = (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, tt.method, ""))
		assert.Equal(t, tt.want, bucket.Balance(), "%+v", tt)
	}
}

// TestObserver: a limiter observes that a POST was throttled even if it is not retried.
func TestObserver(t *testing.T) {
	limiter := &observer{}
	p := quick()
	p.Limiter = limiter
	req := request(t, "POST", "content")
	req.GetBody = nil
	_, err := (&retryhttp.Transport{Base: &script{replies: []reply{{status: 429}}}, Policy: p}).RoundTrip(req)
	require.NoError(t, err)
	require.Len(t, limiter.seen, 1)
	assert.Equal(t, retry.ClassThrottled, limiter.seen[0].Class)
}

type observer struct{ seen []retry.Attempt }

func (*observer) Wait(context.Context) error { return nil }
func (o *observer) Observe(a retry.Attempt)  { o.seen = append(o.seen, a) }

// TestResponseAfterResend: a response is ambiguous if the request was sent again although it
// may have been executed.
func TestResponseAfterResend(t *testing.T) {
	for name, first := range map[string]func(*http.Request) error{
		"not processed": func(*http.Request) error { return errGoAway },
		"unknown":       resentByHTTP2,
	} {
		sent := 0
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			if sent++; sent == 1 {
				return nil, first(req)
			}
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
		})
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		assert.Equal(t, 2, sent)
		assert.Equal(t, 1, retryhttp.AttemptNumber(resp.Request.Context()))
		assert.Equal(t, name == "unknown", retryhttp.Ambiguous(resp), name)
	}
}

// resentByHTTP2 is a net/http that is about to send a GET again over HTTP/2.
func resentByHTTP2(req *http.Request) error {
	trace := httptrace.ContextClientTrace(req.Context())
	trace.GetConn("host:80")
	trace.GotConn(httptrace.GotConnInfo{})
	trace.WroteHeaderField(":method", nil)
	trace.WroteHeaders()
	trace.GetConn("host:80")
	return req.Context().Err()
}

// TestNoResendWithoutBody: a body that cannot be made again is sent once, even if the
// request was not processed.
func TestNoResendWithoutBody(t *testing.T) {
	sent := 0
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		sent++
		return nil, errGoAway
	})
	req := request(t, "PUT", "content")
	req.GetBody = nil
	_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.Equal(t, 1, sent)
}

// TestBodyOfForbiddenRepeat: net/http's own resends of a request with a key are prevented
// without touching its body.
func TestBodyOfForbiddenRepeat(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newServer(t, protocol, ok)
		transport := s.transport()
		transport.MayRepeat = mayRepeat(false)
		post.request(t, s.URL, text(100)).withKey().send(t, transport).isRight(t)
		_, executed := s.seen()
		assert.Equal(t, []string{text(100)}, executed)
	})
}

// TestHintOfTheClassifier: a Classifier's own hint is used.
func TestHintOfTheClassifier(t *testing.T) {
	p := quick()
	p.Classifier = retry.ClassifierFunc(func(error) retry.Verdict {
		return retry.Verdict{Class: retry.ClassTransient, Hint: 7 * time.Second}
	})
	var hints []time.Duration
	p.OnRetry = func(_ context.Context, a retry.Attempt, _ time.Duration) { hints = append(hints, a.Hint) }
	_, err := (&retryhttp.Transport{Base: &script{replies: []reply{{err: errReset}}}, Policy: p}).RoundTrip(request(t, "GET", ""))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, []time.Duration{7 * time.Second, 7 * time.Second}, hints)
}

// TestOneAttempt: with one attempt, the error is that of Base, as a client above that retries
// tests for it, whatever the request.
func TestOneAttempt(t *testing.T) {
	for name, tt := range map[string]struct {
		method   string
		fault    step
		attempts int
		want     error // nil: that of Base is wrapped
	}{
		"GET":                {"GET", closed, retry.NoRetry, io.EOF},
		"GET, cut":           {"GET", cutOff, retry.NoRetry, io.ErrUnexpectedEOF},
		"GET, two attempts":  {"GET", closed, 2, nil},
		"POST":               {"POST", closed, retry.NoRetry, io.EOF},
		"POST, cut":          {"POST", cutOff, retry.NoRetry, io.EOF},
		"POST, two attempts": {"POST", closed, 2, nil},
		"GET, other retries": {"GET", closed, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, http1, processed(tt.fault))
			transport := s.transport()
			transport.MaxRead, transport.Policy.MaxAttempts = 1<<20, tt.attempts
			req, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL, nil)
			require.NoError(t, err)
			_, err = transport.RoundTrip(req)
			if tt.want != nil {
				assert.True(t, err == tt.want, err)
				return
			}
			_, wrapped := errors.AsType[*retry.Error](err)
			assert.True(t, wrapped)
		})
	}
}

// ring is an error that wraps itself.
type ring struct{}

func (*ring) Error() string   { return "ring" }
func (r *ring) Unwrap() error { return r }

// TestEndlessErrors: an error of a Base that wraps itself ends an attempt like any other.
func TestEndlessErrors(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		attempts := 0
		base := roundTripper(func(*http.Request) (*http.Response, error) {
			attempts++
			return nil, &ring{}
		})
		transport := &retryhttp.Transport{Base: base, Policy: retry.Policy{Backoff: retry.NoDelay{}}}
		req, err := http.NewRequestWithContext(t.Context(), method, "http://example.com/", http.NoBody)
		require.NoError(t, err)
		_, err = transport.RoundTrip(req)
		assert.Error(t, err)
		info, ok := retryhttp.InfoOf(err)
		assert.True(t, ok)
		assert.Equal(t, attempts, info.Attempt)
		_, ok = retryhttp.InfoOf(&ring{})
		assert.False(t, ok)
	}
}
