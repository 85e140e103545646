package retryhttp_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// TestKey: which requests get a key, and what it is good for: a lost response.
func TestKey(t *testing.T) {
	for _, test := range []struct {
		name, method, header, given string
		asked, sent                 int
		key                         string
	}{
		{"POST", "POST", "", "key", 1, 2, "key"},
		{"PATCH", "PATCH", "", "key", 1, 2, "key"},
		{"no key given", "POST", "", "", 1, 1, ""},
		{"its own key", "POST", "Idempotency-Key", "key", 0, 2, "own"},
		{"its own key of another name", "POST", "X-Idempotency-Key", "key", 0, 2, ""},
		{"idempotent", "PUT", "", "key", 0, 2, ""},
		{"longest", "POST", "", strings.Repeat("k", 255), 1, 2, strings.Repeat("k", 255)},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := &script{replies: []reply{{err: errReset}, {status: 200}}}
			asked := 0
			transport := &retryhttp.Transport{Base: base, Policy: quick(), Sign: numbered, IdempotencyKey: func(*http.Request) string {
				asked++
				return test.given
			}}
			req := request(t, test.method, "content")
			if test.header != "" {
				req.Header.Set(test.header, "own")
			}
			before := req.Header.Clone()
			resp, err := transport.RoundTrip(req)
			assert.Equal(t, test.asked, asked)
			assert.Equal(t, before, req.Header)
			require.Len(t, base.requests, test.sent)
			for _, sent := range base.requests {
				assert.Equal(t, test.key, sent.Header.Get("Idempotency-Key"))
			}
			if test.sent == 1 {
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, 200, resp.StatusCode)
			assert.Equal(t, []string{"content", "content"}, base.bodies)
		})
	}
}

// TestKeyStatus: what the statuses of an idempotency key mean, also beside a MayRepeat that is false
// for a request with a key, and true for one without.
func TestKeyStatus(t *testing.T) {
	for _, test := range []struct {
		name    string
		replies []reply
		key     string
		status  int
		sent    int
	}{
		{"in progress", []reply{{status: 409, header: "Retry-After: 2"}, {status: 201}}, "key", 201, 2},
		{"in progress for long", []reply{{status: 409, header: "Retry-After: 2"}}, "key", 409, 3},
		{"another conflict", []reply{{status: 409}, {status: 201}}, "key", 409, 1},
		{"in progress, no key", []reply{{status: 409, header: "Retry-After: 2"}, {status: 201}}, "", 409, 1},
		{"other request", []reply{{status: 422, header: "Retry-After: 2"}, {status: 201}}, "key", 422, 1},
		{"unavailable", []reply{{status: 503}, {status: 201}}, "key", 201, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := &script{replies: test.replies}
			policy := quick()
			start := policy.Clock.Now()
			transport := &retryhttp.Transport{
				Base: base, Policy: policy, IdempotencyKey: func(*http.Request) string { return test.key },
				MayRepeat: func(*http.Request) bool { return test.key == "" },
			}
			resp, err := transport.RoundTrip(request(t, "POST", "content"))
			require.NoError(t, err)
			assert.Equal(t, test.status, resp.StatusCode)
			assert.Len(t, base.requests, test.sent)
			if test.replies[0].header != "" && test.sent > 1 {
				assert.GreaterOrEqual(t, policy.Clock.Now().Sub(start), 2*time.Second)
			}
		})
	}
}

// TestKeyWithoutURL: a request without a URL is for Base to refuse.
func TestKeyWithoutURL(t *testing.T) {
	req := request(t, "POST", "")
	req.URL = nil
	_, err := (&retryhttp.Transport{IdempotencyKey: retryhttp.KeyForHosts(retryhttp.RandomKey, "host")}).RoundTrip(req)
	assert.ErrorContains(t, err, "nil Request.URL")
}

// TestKeyInvalid: a key that cannot be sent, or would be refused, is an error, and the
// request is not sent.
func TestKeyInvalid(t *testing.T) {
	for _, key := range []string{strings.Repeat("k", 256), "a b", "a\r\nHost: b", "ключ", "\x00", "\x7f"} {
		base := &script{replies: []reply{{status: 200}}}
		transport := &retryhttp.Transport{Base: base, IdempotencyKey: func(*http.Request) string { return key }}
		req := request(t, "POST", "")
		sent := &body{Reader: strings.NewReader("content")}
		req.Body = sent
		_, err := transport.RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrInvalid)
		assert.ErrorContains(t, err, "IdempotencyKey")
		assert.Equal(t, 1, sent.closed)
		assert.Empty(t, base.requests)
	}
}

// TestKeyHedged: both copies of a request have its key, and the server's word that one of
// them is at work is no response to the call.
func TestKeyHedged(t *testing.T) {
	inHedge(t, func(t *testing.T, h *hedged) {
		var keys [3]atomic.Value
		h.transport.IdempotencyKey = retryhttp.RandomKey
		h.handle = func(n int, w http.ResponseWriter, r *http.Request) {
			keys[n].Store(r.Header.Get("Idempotency-Key"))
			if n == 2 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusConflict)
				return
			}
			time.Sleep(100 * time.Millisecond)
			w.WriteHeader(http.StatusCreated)
		}
		got := h.do(t, http.MethodPost, strings.NewReader("content"))
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusCreated, got.status)
		assert.Len(t, keys[1].Load(), 26)
		assert.Equal(t, keys[1].Load(), keys[2].Load())
	})
}

// TestRandomKey: no key comes twice.
func TestRandomKey(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		seen[retryhttp.RandomKey(nil)] = true
	}
	assert.Len(t, seen, 1000)
}

// TestKeyForHosts: other hosts get no key, and what is not a host is refused at once.
func TestKeyForHosts(t *testing.T) {
	key := retryhttp.KeyForHosts(func(*http.Request) string { return "key" }, "api.example.com", "localhost:8080")
	for url, want := range map[string]string{
		"https://api.example.com/": "key", "https://API.example.com:8443/": "key", "http://localhost:8080/": "key",
		"http://localhost/": "", "https://example.com/": "", "https://api.example.com.evil.com/": "",
	} {
		req, err := http.NewRequest("POST", url, nil)
		require.NoError(t, err)
		assert.Equal(t, want, key(req), url)
	}
	assert.Panics(t, func() { retryhttp.KeyForHosts(nil) })
	for _, host := range []string{"https://api.example.com", "api.example.com/v1", "user@api.example.com", "api.example.com:port", ""} {
		assert.Panics(t, func() { retryhttp.KeyForHosts(retryhttp.RandomKey, host) }, host)
	}
	for _, host := range []string{"::1", "[::1]:8080", "bücher.example", "10.0.0.1"} {
		assert.NotPanics(t, func() { retryhttp.KeyForHosts(retryhttp.RandomKey, host) }, host)
	}
}

// TestKeyAllocations: a request that needs no key costs nothing more.
func TestKeyAllocations(t *testing.T) {
	allocs := func(key func(*http.Request) string) float64 {
		transport := &retryhttp.Transport{Base: stub{&http.Response{StatusCode: 200, Body: http.NoBody}}, PerHost: &retryhttp.PerHost{}, IdempotencyKey: key}
		req := request(t, "PUT", "content")
		return testing.AllocsPerRun(100, func() {
			if _, err := transport.RoundTrip(req); err != nil {
				panic(err)
			}
		})
	}
	assert.Equal(t, allocs(nil), allocs(retryhttp.RandomKey))
}
