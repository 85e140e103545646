package retryhttp_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

// TestRepeats checks the table in the package comment.
func TestRepeats(t *testing.T) {
	text := func(s string) error { return errors.New(s) }
	refused := func(s string) error {
		return fmt.Errorf("http2: Transport: cannot retry err [%s] after Request.Body was written; define Request.GetBody to avoid this error", s)
	}
	for _, tt := range []struct {
		name       string
		reply      reply
		idempotent bool // idempotent methods are retried
		other      bool // POST is retried
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
		{"503, no retry wanted", reply{503, "X-Should-Retry: false", nil}, false, false},
		{"429, no retry wanted", reply{429, "x-should-retry: False", nil}, false, false},
		{"421, no retry wanted", reply{421, "x-should-retry: false", nil}, false, false},
		{"409, retry wanted", reply{409, "X-Should-Retry: true", nil}, true, false},
		{"429, retry wanted", reply{429, "X-Should-Retry: TRUE", nil}, true, true},
		{"409, invalid header", reply{409, "X-Should-Retry: maybe", nil}, false, false},
		{"200, retry wanted", reply{200, "X-Should-Retry: true", nil}, false, false},

		{"refused", reply{err: errDial}, true, true},
		{"refused, in an error", reply{err: fmt.Errorf("token: %w", errDial)}, true, true},
		{"no proxy", reply{err: &net.OpError{Op: "proxyconnect", Err: io.EOF}}, true, true},
		{"no SOCKS proxy", reply{err: &net.OpError{Op: "socks connect", Err: io.EOF}}, true, true},
		{"no such host", reply{err: &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}}, true, true},
		{"DNS unavailable", reply{err: &net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}}}, true, true},
		{"handshake timeout", reply{err: text("net/http: TLS handshake timeout")}, true, false}, // only the trace shows that nothing was sent
		{"refused, and another error", reply{err: errors.Join(errReset, errDial)}, true, false},
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
		{"stream refused locally", reply{err: text("stream error: stream ID 3; REFUSED_STREAM")}, true, false},
		{"stream broken", reply{err: refused("stream error: stream ID 3; PROTOCOL_ERROR; received from peer")}, true, false},
		{"stream canceled", reply{err: text("stream error: stream ID 3; CANCEL; received from peer")}, true, false},
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
				assert.Equal(t, tt.idempotent, isRetried(t, method, "", tt.reply), method)
			}
			for _, method := range []string{"POST", "PATCH", "CONNECT", "get", "LOCK"} {
				assert.Equal(t, tt.other, isRetried(t, method, "", tt.reply), method)
				assert.Equal(t, tt.idempotent, isRetried(t, method, "Idempotency-Key", tt.reply), "%s with a key", method)
				assert.Equal(t, tt.idempotent, isRetried(t, method, "X-Idempotency-Key", tt.reply), "%s with a key", method)
			}
		})
	}
}

// isRetried also checks that a body makes no difference.
func isRetried(t *testing.T, method, key string, o reply) bool {
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
	return sent[0] >= 3
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
		{"unsent key", http.Header{"Idempotency-Key": {}}, true},
		{"nil key", http.Header{"Idempotency-Key": nil}, true},
		{"empty key", http.Header{"Idempotency-Key": {""}}, false},
	} {
		assert.Equal(t, tt.want, retryhttp.IsIdempotent(&http.Request{Method: "POST", Header: tt.header}), tt.name)
		assert.True(t, retryhttp.IsIdempotent(&http.Request{Method: "PUT", Header: tt.header}), tt.name)
	}
	for part, want := range map[string]bool{"bytes 0-9/*": false, "bytes 10-19/20": false, "0-9": false, "bytes */20": true, "bytes */*": true} {
		req := &http.Request{Method: "PUT", Header: http.Header{"Content-Range": {part}}}
		assert.Equal(t, want, retryhttp.IsIdempotent(req), part)
		req.Header.Set("Idempotency-Key", "1")
		assert.True(t, retryhttp.IsIdempotent(req), part)
	}
}

// TestChoices checks the fields that decide which requests may be retried.
func TestChoices(t *testing.T) {
	unavailable := []reply{{status: 503}}
	for _, tt := range []struct {
		name      string
		transport *retryhttp.Transport
		replies   []reply
		sent      int
	}{
		{"none", &retryhttp.Transport{}, unavailable, 1},
		{"503 is unprocessed", &retryhttp.Transport{Unprocessed: []int{503}}, unavailable, 3},
		{"another status is unprocessed", &retryhttp.Transport{Unprocessed: []int{502}}, unavailable, 1},
		{"unprocessed but permanent", &retryhttp.Transport{Unprocessed: []int{404}}, []reply{{status: 404}}, 1},
		{"MayRepeat allows the request", &retryhttp.Transport{MayRepeat: func(r *http.Request) bool { return r.URL.Path == "/path" }}, unavailable, 3},
		{"MayRepeat allows another request", &retryhttp.Transport{MayRepeat: func(r *http.Request) bool { return r.URL.Path == "/" }}, unavailable, 1},
		{"MayRepeat allows nothing, but 429 is unprocessed", &retryhttp.Transport{MayRepeat: func(*http.Request) bool { return false }}, []reply{{status: 429}}, 3},
		{"custom Classifier", &retryhttp.Transport{
			MayRepeat: func(*http.Request) bool { return true },
			Policy: retry.Policy{Classifier: retry.ClassifierFunc(func(err error) retry.Verdict {
				e, ok := errors.AsType[*retryhttp.StatusError](err)
				if ok && e.Response.Header.Get("Reason") == "locked" {
					return retry.Verdict{Class: retry.ClassTransient}
				}
				return retry.Verdict{Class: retry.ClassPermanent}
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
