package retryhttp

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gobackoff/retry"
)

// RandomKey returns a random key for [Transport].IdempotencyKey: 26 letters and digits with
// 130 bits from crypto/rand. It ignores the request.
func RandomKey(*http.Request) string { return rand.Text() }

// KeyForHosts returns a function for [Transport].IdempotencyKey that calls key for requests
// to these hosts, such as "api.example.com" for any port or "localhost:8080" for one, and
// returns "" for others. It panics if key is nil, or if one of the hosts cannot be that of a
// request, such as a URL.
func KeyForHosts(key func(*http.Request) string, hosts ...string) func(*http.Request) string {
	if key == nil {
		panic("retryhttp: KeyForHosts without key")
	}
	for _, host := range hosts {
		u, err := url.Parse("//" + host)
		if err != nil || host == "" || u.Host != host {
			panic(fmt.Sprintf("retryhttp: KeyForHosts: %q is not a host, such as api.example.com or localhost:8080", host))
		}
	}
	hosts = slices.Clone(hosts)
	return func(req *http.Request) string {
		for _, host := range hosts {
			if strings.EqualFold(host, req.URL.Host) || strings.EqualFold(host, req.URL.Hostname()) {
				return key(req)
			}
		}
		return ""
	}
}

// maxKey is the number of bytes of a key that servers accept, such as Stripe and
// retrysql.Once.
const maxKey = 255

// withKey returns a copy of req with a key, or req itself if it needs none.
func (t *Transport) withKey(req *http.Request) (*http.Request, error) {
	if req.URL == nil || IsIdempotent(req) { // without a URL, Base returns an error
		return req, nil
	}
	key := t.IdempotencyKey(req)
	if key == "" {
		return req, nil
	}
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("%w IdempotencyKey: it returned %.40q, which has %d bytes, not 1 to %d of printable ASCII", retry.ErrInvalid, key, len(key), maxKey)
	}
	keyed := req.WithContext(req.Context())
	if keyed.Header = req.Header.Clone(); keyed.Header == nil {
		keyed.Header = http.Header{}
	}
	keyed.Header.Set("Idempotency-Key", key)
	return keyed, nil
}

// isAtWork reports whether the server responded that it is still processing an earlier
// request with the same key (draft-ietf-httpapi-idempotency-key-header-07, section 2.6). A
// 409 without Retry-After may also report the state of a resource.
func isAtWork(resp *http.Response) bool {
	h := resp.Header
	return resp.StatusCode == http.StatusConflict && (h.Get("Stripe-Version") != "" ||
		h.Get("Retry-After") != "" && resp.Request != nil && carriesKey(resp.Request))
}
