package http_test

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// bothAttempts is the number of attempts on both sides, the default of go-retryablehttp
// (the peer).
const bothAttempts = 5

type side func(ctx context.Context, method, url string, body io.Reader) (*http.Response, error)

func newPeer(base http.RoundTripper) *retryablehttp.Client {
	client := retryablehttp.NewClient()
	client.HTTPClient.Transport = base
	client.Logger = nil
	client.RetryWaitMin, client.RetryWaitMax = time.Millisecond, time.Millisecond
	return client
}

func peerSide(base http.RoundTripper) side {
	client := newPeer(base)
	// If the server asks the peer to wait for an hour, it does. Calling cancel then
	// simulates a caller that gives up.
	var cancel context.CancelFunc
	client.Backoff = func(least, most time.Duration, n int, resp *http.Response) time.Duration {
		wait := retryablehttp.DefaultBackoff(least, most, n, resp)
		if wait > most {
			cancel()
		}
		return wait
	}
	return func(ctx context.Context, method, url string, body io.Reader) (*http.Response, error) {
		ctx, cancel = context.WithCancel(ctx)
		req, err := retryablehttp.NewRequestWithContext(ctx, method, url, body)
		if err != nil {
			return nil, err
		}
		return client.Do(req)
	}
}

func ourSide(base http.RoundTripper) side {
	client := &http.Client{Transport: &retryhttp.Transport{
		Base:      base,
		Policy:    retry.Policy{MaxAttempts: bothAttempts, Backoff: retry.Constant(time.Millisecond), Budget: retry.NoBudget{}}, // as the others
		MaxBuffer: 1 << 10,                                                                                                      // the peer reads all bodies into memory
	}}
	return func(ctx context.Context, method, url string, body io.Reader) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, url, body)
		if err != nil {
			return nil, err
		}
		return client.Do(req)
	}
}

type outcome struct {
	executed    int
	connections int
	response    string // status and length of the body; "": error
	err         string // part of the error text
	body        string // of the last request
}

func hangsUp(w http.ResponseWriter, _ *http.Request) { drop(w, true) }

func unavailableFor(wait string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", wait)
		gives(503, 10)(w, r)
	}
}

func order() io.Reader { return strings.NewReader("order") }

func partlyReadReader() io.Reader { return partlyRead() }

// partlyReadSeeker returns a reader that, like a file, has no Len method.
func partlyReadSeeker() io.Reader { return struct{ io.ReadSeeker }{partlyRead()} }

func partlyRead() *strings.Reader {
	r := strings.NewReader("0123456789")
	_, _ = r.Seek(5, io.SeekStart)
	return r
}

type comparison struct {
	name       string
	handlers   []http.HandlerFunc
	method     string
	body       func() io.Reader
	calls      int  // 0: one
	drained    bool // by net/http of Go 1.27, too, if it is fast enough
	peer, ours outcome
}

const final, gaveUp = "not safe to repeat", "giving up after 5 attempt(s)"

var ok, down = gives(200, 2), gives(503, 10)

// Some comparisons show why package retryhttp exists, so the peer's behavior is
// asserted, too.
var comparisons = []comparison{
	{
		name: "POST, always reset after it was processed", method: "POST", body: order, handlers: []http.HandlerFunc{hangsUp},
		peer: outcome{executed: 5, connections: 5, err: gaveUp, body: "order"},
		ours: outcome{executed: 1, connections: 1, err: final, body: "order"},
	},
	{
		name: "POST, once reset after it was processed", method: "POST", body: order, handlers: []http.HandlerFunc{hangsUp, ok},
		peer: outcome{executed: 2, connections: 2, response: "200 2", body: "order"},
		ours: outcome{executed: 1, connections: 1, err: final, body: "order"},
	},
	{
		name: "POST, 503", method: "POST", body: order, handlers: []http.HandlerFunc{down},
		peer: outcome{executed: 5, connections: 1, err: gaveUp, body: "order"},
		ours: outcome{executed: 1, connections: 1, response: "503 10", body: "order"},
	},
	{
		name: "GET, the last response is 503", method: "GET", handlers: []http.HandlerFunc{down},
		peer: outcome{executed: 5, connections: 1, err: gaveUp},
		ours: outcome{executed: 5, connections: 1, response: "503 10"},
	},
	{
		name: "GET twice, both fail", method: "GET", handlers: []http.HandlerFunc{down}, calls: 2,
		peer: outcome{executed: 10, connections: 2, err: gaveUp}, // the peer closes all idle connections in the pool
		ours: outcome{executed: 10, connections: 1, response: "503 10"},
	},
	{
		name: "GET, bodies of 20 KB", method: "GET", handlers: append(four(gives(503, 20<<10)), ok), drained: true,
		peer: outcome{executed: 5, connections: 5, response: "200 2"},
		ours: outcome{executed: 5, connections: 1, response: "200 2"},
	},
	{
		name: "GET, Retry-After of an hour", method: "GET", handlers: []http.HandlerFunc{unavailableFor("3600")},
		peer: outcome{executed: 1, connections: 1, err: context.Canceled.Error()},
		ours: outcome{executed: 1, connections: 1, response: "503 10"},
	},
	{
		name: "PUT of half a Seeker", method: "PUT", body: partlyReadSeeker, handlers: []http.HandlerFunc{down, ok},
		peer: outcome{executed: 2, connections: 1, response: "200 2", body: "0123456789"},
		ours: outcome{executed: 2, connections: 1, response: "200 2", body: "56789"},
	},
	{
		name: "PUT of half a strings.Reader", method: "PUT", body: partlyReadReader, handlers: []http.HandlerFunc{down, ok},
		peer: outcome{executed: 0, connections: 5, err: "ContentLength=5 with Body length 10"},
		ours: outcome{executed: 2, connections: 1, response: "200 2", body: "56789"},
	},
}

func four(h http.HandlerFunc) []http.HandlerFunc { return []http.HandlerFunc{h, h, h, h} }

func TestPeer(t *testing.T) {
	for _, c := range comparisons {
		t.Run(c.name, func(t *testing.T) {
			if !c.drained || !go127 {
				t.Run("go-retryablehttp", func(t *testing.T) { assert.Equal(t, c.peer, c.run(t, peerSide, c.peer.err)) })
			}
			t.Run("retryhttp", func(t *testing.T) { assert.Equal(t, c.ours, c.run(t, ourSide, c.ours.err)) })
		})
	}
}

// run makes the calls of the comparison. If the text of an error contains the string err,
// only that string is recorded.
func (c comparison) run(t *testing.T, newSide func(http.RoundTripper) side, err string) (o outcome) {
	server := newScripted(t, c.handlers...)
	base, dials := newBase(t), new(atomic.Int32)
	base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	do := newSide(base)
	for range max(1, c.calls) {
		var body io.Reader
		if c.body != nil {
			body = c.body()
		}
		resp, failure := do(t.Context(), c.method, server.url, body)
		if failure == nil {
			o.response = strconv.Itoa(resp.StatusCode) + " " + strconv.Itoa(len(whole(t, resp)))
			continue
		}
		if o.err = failure.Error(); err != "" && strings.Contains(o.err, err) {
			o.err = err
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	o.executed, o.connections = len(server.bodies), int(dials.Load())
	if o.executed > 0 {
		o.body = server.bodies[o.executed-1]
	}
	return o
}

// TestPeerRetryAfter: if the peer does not honor the header, it waits for its minimum of
// 1 ms; its maximum is 40 ms.
func TestPeerRetryAfter(t *testing.T) {
	const least, most = time.Millisecond, 40 * time.Millisecond
	now := time.Date(2020, time.February, 2, 2, 2, 2, 0, time.UTC)
	later := now.Add(30 * time.Second)
	epoch := strconv.FormatInt(later.Unix(), 10)
	for _, test := range []struct {
		name, value string
		status      int
		peer, ours  time.Duration
	}{
		{"seconds", "3600", 503, time.Hour, time.Hour},
		{"seconds with 429", "3600", 429, time.Hour, time.Hour},
		{"seconds with 500", "30", 500, least, 30 * time.Second},
		{"a fraction", "1.5", 503, least, 1500 * time.Millisecond},
		{"seconds since 1970", epoch, 503, time.Duration(later.Unix()) * time.Second, 30 * time.Second},
		{"too many seconds", "9223372037", 503, math.MinInt64 + 145224192, math.MaxInt64 - time.Duration(now.UnixNano())},
		{"date of RFC 9110", later.Format(http.TimeFormat), 503, 0, 30 * time.Second}, // the peer reads its own clock, not the Date
		{"date of RFC 850", later.Format("Monday, 02-Jan-06 15:04:05 GMT"), 503, least, 30 * time.Second},
		{"date of ANSI C", later.Format(time.ANSIC), 503, least, 30 * time.Second},
		{"nonsense", "soon", 503, least, 0},
		{"negative", "-1", 503, least, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp := &http.Response{StatusCode: test.status, Header: http.Header{
				"Retry-After": {test.value},
				"Date":        {now.Format(http.TimeFormat)},
			}}
			assert.Equal(t, test.peer, retryablehttp.DefaultBackoff(least, most, 0, resp), "go-retryablehttp")
			assert.Equal(t, test.ours, retryhttp.RetryAfter(resp, now), "retryhttp")
		})
	}
}

// TestPeerRedirect: the peer's RoundTripper follows redirects.
func TestPeerRedirect(t *testing.T) {
	server := newScripted(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) }, gives(200, 2))
	for _, s := range []struct {
		name   string
		make   http.RoundTripper
		status int
	}{
		{"go-retryablehttp", &retryablehttp.RoundTripper{Client: newPeer(newBase(t))}, http.StatusOK},
		{"retryhttp", &retryhttp.Transport{Base: newBase(t)}, http.StatusFound},
	} {
		t.Run(s.name, func(t *testing.T) {
			server.restart()
			resp, err := s.make.RoundTrip(get.request(t, server.url))
			require.NoError(t, err)
			whole(t, resp)
			assert.Equal(t, s.status, resp.StatusCode)
		})
	}
}
