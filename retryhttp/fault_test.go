package retryhttp_test

// These tests cause faults on real sockets. No request is executed twice unless that is
// allowed, the caller gets the complete response or an error, and no goroutine or
// connection is left.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func cutHeaders(x *exchange) {
	_, _ = io.WriteString(x.conn(), "HTTP/1.1 200 OK\r\nContent-Len")
	closed(x)
}

func cutFailure(x *exchange) {
	x.begin(http.StatusServiceUnavailable, 100, "only the begi")
	halfClosed(x)
}

func inBody(fault step) step {
	return func(x *exchange) {
		_, _ = io.CopyN(io.Discard, x.request.Body, 1000)
		fault(x)
	}
}

var faults = []struct {
	name        string
	only        string // protocol; "": both
	fault       step
	size        int  // of the request's body
	executed    int  // number of executions, in spite of the fault
	unprocessed bool // the fault proves that the request was not executed
}{
	{name: "reset before the headers", fault: reset, size: 10},
	{name: "reset in the request's body", fault: inBody(reset), size: 1 << 20},
	{name: "closed in the request's body", fault: inBody(closed), size: 1 << 20},
	{name: "reset after the execution", fault: processed(reset), size: 10, executed: 1},
	{name: "closed after the execution", fault: processed(closed), size: 10, executed: 1},
	{name: "half-closed", fault: processed(halfClosed), size: 10, executed: 1},
	{name: "cut in the headers", only: http1, fault: processed(cutHeaders), size: 10, executed: 1},
	{name: "stream reset", only: http2, fault: inBody(abort), size: 10},
	{name: "stream reset in the request's body", only: http2, fault: inBody(abort), size: 1 << 20},
	{name: "stream reset after the execution", only: http2, fault: processed(abort), size: 10, executed: 1},
	{name: "503 after the execution", fault: processed(respond(503, "try later")), size: 10, executed: 1},
	{name: "503 that is cut", fault: processed(cutFailure), size: 10, executed: 1},
	{name: "429", fault: respond(429, "not now"), size: 10, unprocessed: true},
}

// TestFaultBeforeResponse: the second attempt succeeds if the request may be executed
// twice or was not executed. Otherwise the caller gets an error.
func TestFaultBeforeResponse(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		for _, f := range faults {
			if f.only != "" && f.only != protocol {
				continue
			}
			for _, k := range kinds {
				for _, used := range []string{"new connection", "used connection"} {
					t.Run(f.name+"/"+k.name+"/"+used, func(t *testing.T) {
						leaveNothing(t)
						s := newServer(t, protocol, f.fault, ok)
						if used == "used connection" {
							s.warm(t, s.base)
						}
						req := k.request(t, s.URL, text(f.size))
						o := req.send(t, s.transport())
						if k.repeatable || f.unprocessed {
							isRepeated(t, s, req, o, f.executed)
						} else {
							isNotRepeated(t, s, o, f.executed)
						}
					})
				}
			}
		}
	})
}

func isRepeated(t *testing.T, s *server, req *watchedRequest, o outcome, executed int) {
	t.Helper()
	o.isRight(t)
	arrived, bodies := s.seen()
	if assert.Len(t, arrived, 2); req.Body != nil { // otherwise net/http may have resent it
		assert.Equal(t, "1", arrived[0])
		assert.Contains(t, []string{"2", "3"}, arrived[1], "a second attempt may find that the connection has just ended")
	}
	assert.Len(t, bodies, executed+1)
	for _, body := range bodies {
		want := ""
		if req.Body != nil {
			want = text(int(req.ContentLength))
		}
		assert.True(t, body == want, "%d bytes that differ from those sent", len(body))
	}
}

func isNotRepeated(t *testing.T, s *server, o outcome, executed int) {
	t.Helper()
	if o.err != nil {
		assert.ErrorIs(t, o.err, retry.ErrUnrepeatable)
	} else {
		assert.Equal(t, http.StatusServiceUnavailable, o.status, "as the server responded")
	}
	arrived, bodies := s.seen()
	assert.Equal(t, []string{"1"}, arrived)
	assert.Len(t, bodies, executed)
}

// TestFaultInResponse: nothing is retried after the headers have arrived.
func TestFaultInResponse(t *testing.T) {
	for _, f := range []struct {
		name  string
		fault step
	}{
		{"reset", reset},
		{"closed", closed},
		{"half-closed", halfClosed},
		{"aborted", abort},
	} {
		for _, k := range kinds {
			t.Run(f.name+"/"+k.name, func(t *testing.T) {
				overBoth(t, func(t *testing.T, protocol string) {
					arrived := make(chan struct{})
					s := newServer(t, protocol, processed(func(x *exchange) {
						x.begin(http.StatusOK, 100_000, content)
						<-arrived // a reset would overtake the headers
						f.fault(x)
					}))
					req := k.request(t, s.URL, text(10))
					resp, err := s.transport().RoundTrip(req.Request)
					close(arrived)
					require.NoError(t, err)
					body, err := io.ReadAll(resp.Body)
					assert.Error(t, err)
					assert.LessOrEqual(t, len(body), len(content))
					require.NoError(t, resp.Body.Close())
					_, executed := s.seen()
					assert.Len(t, executed, 1)
				})
			})
		}
	}
}

var errRefused = errors.New("refused")

type closedLimiter struct{ attempts atomic.Int64 }

func (l *closedLimiter) Wait(context.Context) error {
	if l.attempts.Add(-1) < 0 {
		return errRefused
	}
	return nil
}

func limiter(attempts int64) *closedLimiter {
	l := &closedLimiter{}
	l.attempts.Store(attempts)
	return l
}

var refusals = []struct {
	name    string
	change  func(req *watchedRequest, transport *retryhttp.Transport)
	want    error // nil: any
	arrived int
}{
	{"policy is invalid", func(_ *watchedRequest, tr *retryhttp.Transport) { tr.Policy.MaxAttempts = -1 }, retry.ErrInvalid, 0},
	{"limiter at once", func(_ *watchedRequest, tr *retryhttp.Transport) { tr.Policy.Limiter = limiter(0) }, errRefused, 0},
	{"limiter later", func(_ *watchedRequest, tr *retryhttp.Transport) { tr.Policy.Limiter = limiter(1) }, errRefused, 1},
	{"no second body", func(req *watchedRequest, _ *retryhttp.Transport) {
		req.GetBody = func() (io.ReadCloser, error) { return nil, errRefused }
	}, errRefused, 1},
	{"unknown scheme", func(req *watchedRequest, _ *retryhttp.Transport) { req.URL.Scheme = "gopher" }, nil, 0},
	{"no host", func(req *watchedRequest, _ *retryhttp.Transport) { req.URL.Host = "" }, nil, 0},
	{"no URL", func(req *watchedRequest, _ *retryhttp.Transport) { req.URL = nil }, nil, 0},
	{"no headers", func(req *watchedRequest, tr *retryhttp.Transport) { req.Header, tr.Sign = nil, nil }, nil, 0},
	{"invalid method", func(req *watchedRequest, _ *retryhttp.Transport) { req.Method = "P U T" }, nil, 0},
}

// TestRefusedCallClosesBody: if a call ends before its first or second attempt, the
// request's body is closed.
func TestRefusedCallClosesBody(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, respond(503, "later"))
				req, transport := put.request(t, s.URL, text(10)), s.transport()
				c.change(req, transport)
				req.before = req.Clone(req.Context())
				o := req.send(t, transport)
				require.Error(t, o.err)
				if c.want != nil {
					assert.ErrorIs(t, o.err, c.want)
				}
				arrived, _ := s.seen()
				assert.Len(t, arrived, c.arrived)
			})
		})
	}
}
