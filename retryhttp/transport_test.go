package retryhttp_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

// roundTripper is a function used as a Base.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// reply is what one attempt comes to: a status, or an error.
type reply struct {
	status int
	header string // "name: value"
	err    error
}

// script is a Base that gives replies, the last one for ever, and keeps what it was sent.
type script struct {
	replies  []reply
	requests []*http.Request
	bodies   []string
	answers  []*body
}

// body is the body of an answer that knows what has been done with it.
type body struct {
	*strings.Reader
	closed int
}

func (b *body) Close() error { b.closed++; return nil }

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	o := s.replies[min(len(s.requests), len(s.replies)-1)]
	s.requests = append(s.requests, req)
	if req.Body != nil {
		sent, err := io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		s.bodies = append(s.bodies, string(sent))
	}
	if o.err != nil {
		return nil, o.err
	}
	b := &body{Reader: strings.NewReader(fmt.Sprint("answer ", len(s.requests)))}
	s.answers = append(s.answers, b)
	resp := &http.Response{StatusCode: o.status, Header: http.Header{}, Body: b, ContentLength: int64(b.Len()), Request: req}
	if name, value, ok := strings.Cut(o.header, ": "); ok {
		resp.Header.Set(name, value)
	}
	return resp, nil
}

// quick is a policy of three attempts whose waits take no time.
func quick() retry.Policy {
	return retry.Policy{Clock: &retrytest.Clock{}, Rand: retrytest.Fixed(0.5)}
}

func request(t *testing.T, method, sent string) *http.Request {
	t.Helper()
	var r io.Reader
	if sent != "" {
		r = strings.NewReader(sent)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://host/path", r)
	require.NoError(t, err)
	return req
}

var (
	errDial  = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errReset = &net.OpError{Op: "read", Err: syscall.ECONNRESET}
)

// TestRepeats is the table of the package comment: which requests are sent again
// after which failures.
func TestRepeats(t *testing.T) {
	text := func(s string) error { return errors.New(s) }
	refused := func(s string) error {
		return fmt.Errorf("http2: Transport: cannot retry err [%s] after Request.Body was written; define Request.GetBody to avoid this error", s)
	}
	for _, tt := range []struct {
		name       string
		reply      reply
		idempotent bool // GET and its like are sent again
		other      bool // POST is, too
	}{
		{"200", reply{status: 200}, false, false},
		{"302", reply{status: 302}, false, false},
		{"400", reply{status: 400}, false, false},
		{"404", reply{status: 404}, false, false},
		{"408", reply{status: 408}, true, false},
		{"409", reply{status: 409}, false, false},
		{"421", reply{status: 421}, true, true},
		{"425", reply{status: 425}, true, true},
		{"429", reply{status: 429}, true, true},
		{"500", reply{status: 500}, true, false},
		{"501", reply{status: 501}, false, false},
		{"502", reply{status: 502}, true, false},
		{"503", reply{status: 503}, true, false},
		{"504", reply{status: 504}, true, false},
		{"599", reply{status: 599}, true, false},
		{"503, the server says no", reply{503, "X-Should-Retry: false", nil}, false, false},
		{"429, the server says no", reply{429, "x-should-retry: False", nil}, false, false},
		{"421, the server says no", reply{421, "x-should-retry: false", nil}, false, false},
		{"409, the server says yes", reply{409, "X-Should-Retry: true", nil}, true, false},
		{"429, the server says yes", reply{429, "X-Should-Retry: TRUE", nil}, true, true},
		{"409, the server says something else", reply{409, "X-Should-Retry: maybe", nil}, false, false},
		{"200, the server says yes", reply{200, "X-Should-Retry: true", nil}, false, false},

		{"refused", reply{err: errDial}, true, true},
		{"refused, in an error", reply{err: fmt.Errorf("token: %w", errDial)}, true, true},
		{"no proxy", reply{err: &net.OpError{Op: "proxyconnect", Err: io.EOF}}, true, true},
		{"no SOCKS proxy", reply{err: &net.OpError{Op: "socks connect", Err: io.EOF}}, true, true},
		{"no such host", reply{err: &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}}, true, true},
		{"DNS is away", reply{err: &net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}}}, true, true},
		{"handshake takes too long", reply{err: text("net/http: TLS handshake timeout")}, true, false}, // known by the trace alone
		{"refused, and something else", reply{err: errors.Join(errReset, errDial)}, true, false},
		{"connection became unusable", reply{err: text("net/http: cannot rewind body after connection loss")}, true, true},
		{"certificate", reply{err: x509.UnknownAuthorityError{}}, false, false},
		{"reset", reply{err: errReset}, true, false},
		{"closed", reply{err: io.EOF}, true, false},
		{"cut", reply{err: io.ErrUnexpectedEOF}, true, false},
		{"timeout", reply{err: context.DeadlineExceeded}, true, false},
		{"idle connection", reply{err: text("http: server closed idle connection")}, true, false},
		{"anything", reply{err: text("anything")}, true, false},

		{"stream refused", reply{err: refused("stream error: stream ID 3; REFUSED_STREAM; received from peer")}, true, false},
		{"stream refused, without a body", reply{err: text("stream error: stream ID 3; REFUSED_STREAM; received from peer")}, true, false},
		{"stream refused by ourselves", reply{err: text("stream error: stream ID 3; REFUSED_STREAM")}, true, false},
		{"stream broken", reply{err: refused("stream error: stream ID 3; PROTOCOL_ERROR; received from peer")}, true, false},
		{"stream cancelled", reply{err: text("stream error: stream ID 3; CANCEL; received from peer")}, true, false},
		{"GOAWAY, above the last stream", reply{err: refused("http2: Transport received Server's graceful shutdown GOAWAY")}, true, true},
		{"GOAWAY with a code", reply{err: text("http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM")}, true, true},
		{"GOAWAY, then closed", reply{err: text(`http2: server sent GOAWAY and closed the connection; LastStreamID=3, ErrCode=NO_ERROR, debug="REFUSED_STREAM"`)}, true, false},
		{"connection not usable", reply{err: refused("http2: client conn not usable")}, true, true},

		{"scheme", reply{err: text(`unsupported protocol scheme "ftp"`)}, false, false},
		{"header", reply{err: text(`net/http: invalid header field value for "A"`)}, false, false},
		{"host", reply{err: text("http: no Host in request URL")}, false, false},
		{"length", reply{err: fmt.Errorf("connection broken: %w", text("http: ContentLength=5 with Body length 6"))}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, method := range []string{"", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"} {
				assert.Equal(t, tt.idempotent, repeats(t, method, "", tt.reply), method)
			}
			for _, method := range []string{"POST", "PATCH", "CONNECT", "get", "LOCK"} {
				assert.Equal(t, tt.other, repeats(t, method, "", tt.reply), method)
				assert.Equal(t, tt.idempotent, repeats(t, method, "Idempotency-Key", tt.reply), "%s with a key", method)
				assert.Equal(t, tt.idempotent, repeats(t, method, "X-Idempotency-Key", tt.reply), "%s with a key", method)
			}
		})
	}
}

// repeats reports whether a request is sent again; with a body and without the
// answer must be the same.
func repeats(t *testing.T, method, key string, o reply) bool {
	t.Helper()
	var sent [2]int
	for i, content := range []string{"", "content"} {
		base := &script{replies: []reply{o}}
		req := request(t, "POST", content)
		if req.Method = method; key != "" {
			req.Header.Set(key, "key")
		}
		transport := retryhttp.Transport{Base: base, Policy: quick()}
		_, _ = transport.RoundTrip(req)
		sent[i] = len(base.requests)
		for _, b := range base.bodies {
			assert.Equal(t, content, b)
		}
	}
	assert.Equal(t, sent[0], sent[1])
	return sent[0] == 3
}

func TestIsIdempotent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		header http.Header
		want   bool
	}{
		{"no header", nil, false},
		{"another header", http.Header{"Idempotency": {"1"}}, false},
		{"key", http.Header{"Idempotency-Key": {"1"}}, true},
		{"older key", http.Header{"X-Idempotency-Key": {"1"}}, true},
		{"key that is not sent", http.Header{"Idempotency-Key": {}}, true},
		{"key that is nil", http.Header{"Idempotency-Key": nil}, true},
		{"key that is empty", http.Header{"Idempotency-Key": {""}}, false},
	} {
		assert.Equal(t, tt.want, retryhttp.IsIdempotent(&http.Request{Method: "POST", Header: tt.header}), tt.name)
		assert.True(t, retryhttp.IsIdempotent(&http.Request{Method: "PUT", Header: tt.header}), tt.name)
	}
}

// TestChoices: what a user may say about requests, answers and bodies.
func TestChoices(t *testing.T) {
	unavailable := []reply{{status: 503}}
	for _, tt := range []struct {
		name      string
		transport retryhttp.Transport
		replies   []reply
		sent      int
	}{
		{"none", retryhttp.Transport{}, unavailable, 1},
		{"503 does no harm", retryhttp.Transport{Unprocessed: []int{503}}, unavailable, 3},
		{"another status does no harm", retryhttp.Transport{Unprocessed: []int{502}}, unavailable, 1},
		{"a status that is not worth a retry", retryhttp.Transport{Unprocessed: []int{404}}, []reply{{status: 404}}, 1},
		{"the request may be repeated", retryhttp.Transport{MayRepeat: func(r *http.Request) bool { return r.URL.Path == "/path" }}, unavailable, 3},
		{"another request may", retryhttp.Transport{MayRepeat: func(r *http.Request) bool { return r.URL.Path == "/" }}, unavailable, 1},
		{"nothing may, but it was not processed", retryhttp.Transport{MayRepeat: func(*http.Request) bool { return false }}, []reply{{status: 429}}, 3},
		{"a classifier of the user's", retryhttp.Transport{
			MayRepeat: func(*http.Request) bool { return true },
			Policy: retry.Policy{Classifier: retry.ClassifierFunc(func(err error) retry.Class {
				e, ok := errors.AsType[*retryhttp.StatusError](err)
				if ok && e.Response.Header.Get("Reason") == "locked" {
					return retry.ClassTransient
				}
				return retry.ClassPermanent
			})},
		}, []reply{{409, "Reason: locked", nil}, {status: 409}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := &script{replies: tt.replies}
			tt.transport.Base = base
			tt.transport.Policy.Clock = &retrytest.Clock{}
			resp, err := tt.transport.RoundTrip(request(t, "POST", "content"))
			require.NoError(t, err)
			assert.Equal(t, tt.replies[len(tt.replies)-1].status, resp.StatusCode)
			assert.Len(t, base.requests, tt.sent)
		})
	}
}

// TestAnswers: all answers but the last are closed before the wait, and the
// last one comes back as it came.
func TestAnswers(t *testing.T) {
	for _, last := range []reply{{status: 200}, {status: 404}, {status: 503}} {
		t.Run(fmt.Sprint(last.status), func(t *testing.T) {
			base := &script{replies: []reply{{status: 503}, {status: 503}, last}}
			p := quick()
			waits := 0
			p.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
				waits++
				assert.Equal(t, 1, base.answers[waits-1].closed, "closed before the wait")
				assert.Zero(t, base.answers[waits-1].Len(), "read to the end")
				assert.EqualError(t, failed.Err, "503 Service Unavailable")
			}
			resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", ""))
			require.NoError(t, err)
			assert.Equal(t, 2, waits)
			assert.Equal(t, last.status, resp.StatusCode)
			assert.Zero(t, base.answers[2].closed)
			content, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, "answer 3", string(content))
			assert.Equal(t, 3, retryhttp.AttemptNumber(resp.Request.Context()))
		})
	}
}

// TestEnds: why there is no further attempt, and what comes back then.
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
		{"attempts, no answer", "GET", nil, reply{err: errReset}, 3, retry.ErrMaxAttempts},
		{"permanent", "GET", nil, reply{status: 404}, 1, retry.ErrPermanent},
		{"permanent, no answer", "GET", nil, reply{err: x509.UnknownAuthorityError{}}, 1, retry.ErrPermanent},
		{"not safe", "POST", nil, unavailable, 1, retry.ErrUnrepeatable},
		{"not safe, no answer", "POST", nil, reply{err: errReset}, 1, retry.ErrUnrepeatable},
		{"budget", "GET", func(p *retry.Policy) { p.Budget = &retry.TokenBudget{Capacity: 14} }, unavailable, 2, retry.ErrBudget},
		{"budget, after a wait", "GET", func(p *retry.Policy) { p.LongPoll, p.Budget = true, &retry.TokenBudget{Capacity: 14} }, unavailable, 2, retry.ErrBudget},
		{"elapsed", "GET", func(p *retry.Policy) { p.MaxElapsed = 1 }, unavailable, 1, retry.ErrMaxElapsed},
		{"hint", "GET", nil, busy, 1, retry.ErrHint},
		{"hint, of a rule", "GET", func(p *retry.Policy) { p.Hint = retry.HintAtLeast{} }, busy, 3, retry.ErrMaxAttempts},
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
				assert.Zero(t, base.answers[tt.sent-1].closed)
				return
			}
			assert.Nil(t, resp)
			require.ErrorIs(t, err, tt.last.err)
			_, gaveUp := err.(*retry.Error)
			assert.Equal(t, tt.reason != retry.ErrPermanent, gaveUp)
		})
	}
}

// TestHints: the wait follows the server, within reason.
func TestHints(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		header string
		rule   retry.HintRule
		want   time.Duration
	}{
		{"none", "", nil, 500 * ms}, // after throttling the standard rule begins with 1 s
		{"below the delay", "Retry-After-Ms: 1", nil, 500 * ms},
		{"a tenth later at most", "Retry-After: 2", nil, 2100 * ms}, // Rand is 0.5
		{"a rule of the user's", "Retry-After: 2", retry.HintAtLeast{}, 2000 * ms},
		{"the window of AWS", "X-Amz-Retry-After: 9000", retry.HintWindow{}, 5500 * ms},
		{"ignored", "Retry-After: 2", retry.HintIgnore{}, 500 * ms},
		{"a date by the server's clock", "Retry-After: Mon, 02 Nov 2026 12:00:07 GMT", nil, 7350 * ms},
		{"longest", "Retry-After: 60", nil, 63 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := &script{replies: []reply{{429, tt.header, nil}, {status: 200}}}
			p := quick()
			clock := &retrytest.Clock{Start: noon}
			p.Clock, p.Hint = clock, tt.rule
			_, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", ""))
			require.NoError(t, err)
			assert.Equal(t, []time.Duration{tt.want}, clock.Waits())
		})
	}
	t.Run("without a source of random numbers", func(t *testing.T) {
		base := &script{replies: []reply{{429, "Retry-After: 10", nil}, {status: 200}}}
		clock := &retrytest.Clock{}
		_, err := (&retryhttp.Transport{Base: base, Policy: retry.Policy{Clock: clock}}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		assert.GreaterOrEqual(t, clock.Waits()[0], 10*time.Second)
		assert.LessOrEqual(t, clock.Waits()[0], 11*time.Second)
	})
}

// TestRequestIsKept: the caller's request is not changed, and each attempt has one
// of its own with its number.
func TestRequestIsKept(t *testing.T) {
	base := &script{replies: []reply{{status: 503}}}
	req := request(t, "PUT", "content")
	req.Header.Set("A", "b")
	kept, original := *req, req.Header.Clone()
	transport := retryhttp.Transport{Base: base, Policy: quick(), AttemptHeader: "attempt"}
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
	assert.Same(t, base.requests[2], resp.Request)
	assert.Zero(t, retryhttp.AttemptNumber(t.Context()))

	t.Run("without a header", func(t *testing.T) {
		req := request(t, "GET", "")
		req.Header = nil
		_, err := transport.RoundTrip(req)
		require.NoError(t, err)
		assert.Nil(t, req.Header)
	})
}

// TestHeadersOfRetries: a Base that changes the headers of its requests, which it
// must not, does not find its own changes when the request comes again.
func TestHeadersOfRetries(t *testing.T) {
	seen := 0
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		if retryhttp.AttemptNumber(req.Context()) > 1 {
			seen = max(seen, len(req.Header["Signature"]))
			req.Header.Add("Signature", "of a retry")
		}
		return &http.Response{StatusCode: 503, Body: http.NoBody}, nil
	})
	_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
	require.NoError(t, err)
	assert.Zero(t, seen)
}

// TestContexts: the context of the request decides, and nothing that happened
// before its end is lost.
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
		assert.Equal(t, 1, base.answers[0].closed)
	})
	t.Run("ended with the answer", func(t *testing.T) {
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
	t.Run("a deadline before the next attempt", func(t *testing.T) {
		base := &script{replies: []reply{{503, "Retry-After: 30", nil}}}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		resp, err := (&retryhttp.Transport{Base: base}).RoundTrip(request(t, "GET", "").WithContext(ctx))
		require.NoError(t, err)
		assert.Equal(t, 503, resp.StatusCode)
		assert.Equal(t, "30", resp.Header.Get("Retry-After"))
		assert.Zero(t, base.answers[0].closed)
	})
}

// TestRefused: nothing is sent under an invalid policy, and the body is closed.
func TestRefused(t *testing.T) {
	for name, p := range map[string]retry.Policy{
		"attempts":        {MaxAttempts: -1},
		"attempt timeout": {AttemptTimeout: -1},
	} {
		base := &script{replies: []reply{{status: 200}}}
		sent := &body{Reader: strings.NewReader("content")}
		req := request(t, "PUT", "")
		req.Body = sent
		_, err := retryhttp.NewClient(p).Transport.RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrInvalid, name)
		assert.Equal(t, 1, sent.closed, name)
		assert.Empty(t, base.requests, name)
	}
}

// TestBadBase: what breaks the rules of http.RoundTripper is dealt with.
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

// TestErrors: what http.Client makes of our errors.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		err     error
		want    string
		timeout bool
	}{
		{errReset, `Get "http://host/path": gave up after 3 attempts (all attempts used): read: connection reset by peer`, false},
		{context.DeadlineExceeded, `Get "http://host/path": gave up after 3 attempts (all attempts used): context deadline exceeded`, true},
		{x509.UnknownAuthorityError{}, `Get "http://host/path": x509: certificate signed by unknown authority`, false},
		{errors.New("http2: Transport: cannot retry err [http2: client conn not usable] after Request.Body was written; define Request.GetBody to avoid this error"),
			`Get "http://host/path": gave up after 3 attempts (all attempts used): http2: client conn not usable`, false},
		{errors.New("http2: Transport: cannot retry err [no end"),
			`Get "http://host/path": gave up after 3 attempts (all attempts used): http2: Transport: cannot retry err [no end`, false},
	} {
		client := retryhttp.NewClient(quick())
		client.Transport.(*retryhttp.Transport).Base = &script{replies: []reply{{err: tt.err}}}
		_, err := client.Do(request(t, "GET", ""))
		require.EqualError(t, err, tt.want)
		assert.ErrorIs(t, err, tt.err)
		assert.Equal(t, tt.timeout, err.(*url.Error).Timeout())
	}
}

// TestBodies: which bodies can be sent again.
func TestBodies(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name   string
		body   io.Reader // of no type that http.NewRequest knows
		length int64     // that the request declares
		most   int64
		sent   int
		err    string
	}{
		{"no buffer", strings.NewReader(long), 100, 0, 1, ""},
		{"fits", strings.NewReader(long), 100, 100, 3, ""},
		{"fits, length not known", strings.NewReader(long), -1, 100, 3, ""},
		{"fits, length not given", strings.NewReader(long), 0, 1 << 62, 3, ""},
		{"fits into the largest", strings.NewReader(long), 0, 1<<63 - 1, 3, ""},
		{"empty", strings.NewReader(""), 0, 100, 3, ""},
		{"one byte too long", strings.NewReader(long), -1, 99, 1, ""},
		{"too long, and says so", strings.NewReader(long), 100, 99, 1, ""},
		{"cannot be read", io.MultiReader(strings.NewReader("x"), failingReader{errors.New("broken")}), -1, 100, 1, "broken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := ""
			if s, ok := tt.body.(*strings.Reader); ok {
				want = long[:s.Len()]
			}
			closed := 0
			req := request(t, "PUT", "")
			req.Body = closer{tt.body, func() { closed++ }}
			req.ContentLength = tt.length
			base := &script{replies: []reply{{status: 503}}}
			resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), MaxBuffer: tt.most}).RoundTrip(req)
			assert.Equal(t, 1, closed)
			assert.Len(t, base.requests, tt.sent)
			for _, b := range base.bodies {
				assert.Equal(t, want, b)
			}
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, 503, resp.StatusCode)
		})
	}
}

type closer struct {
	io.Reader
	close func()
}

func (c closer) Close() error { c.close(); return nil }

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestBodyThatCannotBeSentAgain: the error says why there was no retry.
func TestBodyThatCannotBeSentAgain(t *testing.T) {
	req := request(t, "PUT", "content")
	req.GetBody = nil
	base := &script{replies: []reply{{err: errReset}}}
	_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.ErrorIs(t, err, errReset)
	assert.ErrorContains(t, err, "no GetBody")
	assert.Len(t, base.requests, 1)
}

// TestGetBodyFails: that ends the call, and what failed before is not lost.
func TestGetBodyFails(t *testing.T) {
	gone := errors.New("file is gone")
	for _, first := range []reply{{status: 503}, {err: errReset}} {
		base := &script{replies: []reply{first}}
		req := request(t, "PUT", "content")
		req.GetBody = func() (io.ReadCloser, error) { return nil, gone }
		p := quick()
		p.AttemptTimeout = time.Hour // whose context must end here, too
		resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(req)
		assert.Nil(t, resp)
		assert.ErrorIs(t, err, gone)
		if first.err != nil {
			assert.ErrorIs(t, err, errReset)
		} else {
			assert.ErrorContains(t, err, "503 Service Unavailable")
		}
		assert.Len(t, base.requests, 1)
	}
}

// TestBudgets: what must not be repeated is no word on the health of the server,
// and what a server refuses for good is.
func TestBudgets(t *testing.T) {
	for _, tt := range []struct {
		method string
		reply  reply
		want   float64
	}{
		{"POST", reply{status: 200}, 11},
		{"POST", reply{status: 404}, 11},
		{"POST", reply{status: 503}, 10},
		{"POST", reply{err: errReset}, 10},
		{"GET", reply{status: 503}, 6},
	} {
		bucket := &retry.TokenBudget{Capacity: 20, Deficit: 10, Costs: retry.TokenCosts{Transient: 2}}
		p := quick()
		p.Budget = bucket
		_, _ = (&retryhttp.Transport{Base: &script{replies: []reply{tt.reply}}, Policy: p}).RoundTrip(request(t, tt.method, ""))
		assert.Equal(t, tt.want, bucket.Balance(), "%+v", tt)
	}
}

// TestObserver: a limiter learns that a POST was throttled although that one is not
// repeated.
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

// TestCloseIdleConnections reaches the Base that can do it.
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

// TestClient: the client above does what is the client's: redirects and cookies.
func TestClient(t *testing.T) {
	var paths []string
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		paths = append(paths, req.Method+" "+req.URL.Path)
		resp := &http.Response{StatusCode: 503, Header: http.Header{}, Body: http.NoBody}
		switch {
		case len(paths)%2 == 1: // the first attempt at each fails
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

// TestLayers: attempts at two layers do not multiply.
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

// TestCheckStatus makes the errors that operations of retry.Do return.
func TestCheckStatus(t *testing.T) {
	answer := func(status int, headers ...string) *http.Response {
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}
		for i := 0; i < len(headers); i += 2 {
			resp.Header.Set(headers[i], headers[i+1])
		}
		return resp
	}
	for _, tt := range []struct {
		resp *http.Response
		text string // "": nil
		want retry.Attempt
	}{
		{answer(200), "", retry.Attempt{}},
		{answer(399), "", retry.Attempt{}},
		{answer(400), "400 Bad Request", retry.Attempt{Class: retry.ClassPermanent}},
		{answer(408), "408 Request Timeout", retry.Attempt{Class: retry.ClassTimeout}},
		{answer(421), "421 Misdirected Request", retry.Attempt{Class: retry.ClassTransient}},
		{answer(429, "Retry-After", "2"), "429 Too Many Requests", retry.Attempt{Class: retry.ClassThrottled, Hint: 2 * time.Second}},
		{answer(503, "Retry-After-Ms", "2"), "503 Service Unavailable", retry.Attempt{Class: retry.ClassTransient, Hint: 2 * time.Millisecond}},
		{answer(503, "X-Should-Retry", "false"), "503 Service Unavailable", retry.Attempt{Class: retry.ClassPermanent}},
		{answer(409, "X-Should-Retry", "true", "Retry-After", "2"), "409 Conflict", retry.Attempt{Class: retry.ClassTransient, Hint: 2 * time.Second}},
		{answer(599), "599", retry.Attempt{Class: retry.ClassTransient}},
	} {
		err := retryhttp.CheckStatus(tt.resp)
		tt.want.Err = err
		assert.Equal(t, tt.want, retry.Policy{}.Classify(err))
		if tt.text == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, tt.text)
		e, ok := errors.AsType[*retryhttp.StatusError](err)
		require.True(t, ok)
		assert.Same(t, tt.resp, e.Response)
	}
}

// FuzzCheckStatus: whatever the headers are, the error has a class, and a server
// that says true or false is heard.
func FuzzCheckStatus(f *testing.F) {
	f.Add(503, "true", "3")
	f.Add(404, " FALSE ", "soon")
	f.Add(0, "maybe", "-1")
	f.Fuzz(func(t *testing.T, status int, word, after string) {
		resp := &http.Response{StatusCode: status, Header: http.Header{"X-Should-Retry": {word}, "Retry-After": {after}}}
		err := retryhttp.CheckStatus(resp)
		require.Equal(t, status >= 400, err != nil)
		if err == nil {
			return
		}
		assert.NotEmpty(t, err.Error())
		a := retry.Policy{}.Classify(err)
		assert.GreaterOrEqual(t, a.Hint, time.Duration(0))
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "true":
			assert.NotEqual(t, retry.ClassPermanent, a.Class)
		case "false":
			assert.Equal(t, retry.ClassPermanent, a.Class)
		}
	})
}

// FuzzIsIdempotent: only a method of the list, or a key, makes a request safe.
func FuzzIsIdempotent(f *testing.F) {
	f.Add("POST", "Idempotency-Key", "1")
	f.Add("QUERY", "", "")
	f.Fuzz(func(t *testing.T, method, name, value string) {
		req := &http.Request{Method: method, Header: http.Header{}}
		known := retryhttp.IsIdempotent(req)
		req.Header.Set(name, value)
		name = http.CanonicalHeaderKey(name)
		key := value != "" && (name == "Idempotency-Key" || name == "X-Idempotency-Key")
		assert.Equal(t, known || key, retryhttp.IsIdempotent(req))
		if method == "POST" || method == "PATCH" {
			assert.False(t, known)
		}
	})
}

// TestAllocations: the happy path costs the request of the attempt and its context.
func TestAllocations(t *testing.T) {
	transport := retryhttp.Transport{Base: stub{&http.Response{StatusCode: 200, Body: http.NoBody}}, PerHost: &retryhttp.PerHost{}}
	for _, req := range []*http.Request{request(t, "GET", ""), request(t, "PUT", "content")} {
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := transport.RoundTrip(req); err != nil {
				panic(err)
			}
		})
		assert.LessOrEqual(t, allocs, 2., req.Method)
	}
}
