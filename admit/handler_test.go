package admit

import (
	"bufio"
	"context"
	"flag"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// full returns a Handler whose Gate admits one more request than are in progress, none.
func full(next http.Handler) *Handler {
	gate := &Gate{Rand: func() float64 { return 0.3 }}
	gate.limiter.limit = 1
	gate.Enter(Caller{})
	return gate.Handler(next)
}

func TestHandler(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Handler)
		header http.Header
		limit  float64 // 0: 1
		expect int
	}{
		{name: "refused", expect: 429},
		{name: "status", change: func(h *Handler) { h.Status = 503 }, expect: 503},
		{name: "WebSocket", header: http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}, expect: 429},
		{name: "offer of HTTP/2", header: http.Header{"Upgrade": {"h2c"}, "Connection": {"Upgrade, HTTP2-Settings"}}, expect: 429},
		{name: "events", header: http.Header{"Accept": {"text/event-stream"}}, expect: 429},
		{name: "ttl in the past", header: http.Header{"Amz-Sdk-Request": {"ttl=20000101T000000Z"}}, limit: 2, expect: 200},
		{name: "skipped", change: func(h *Handler) { h.Skip = func(r *http.Request) bool { return r.URL.Path == "/healthz" } }, expect: 200},
		{name: "not skipped", change: func(h *Handler) { h.Skip = func(*http.Request) bool { return false } }, expect: 429},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := full(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }))
			if test.change != nil {
				test.change(h)
			}
			r := httptest.NewRequest("POST", "/healthz", nil)
			maps.Copy(r.Header, test.header)
			h.Gate.limiter.limit = max(1, test.limit)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			assert.Equal(t, test.expect, w.Code)
			if test.expect != 200 {
				assert.Equal(t, "2", w.Header().Get("Retry-After"))
				assert.Equal(t, "2200", w.Header().Get("Retry-After-Ms"))
			}
		})
	}
}

func TestPatience(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, value string
		expect      time.Duration
	}{
		{"Grpc-Timeout", "250m", 250 * time.Millisecond},
		{"Grpc-Timeout", "5S", 5 * time.Second},
		{"Grpc-Timeout", "5", 0},
		{"Grpc-Timeout", "x", 0},
		{"Grpc-Timeout", "99999999H", 0},
		{"X-Envoy-Expected-Rq-Timeout-Ms", "15000", 15 * time.Second},
		{"X-Envoy-Expected-Rq-Timeout-Ms", "-1", 0},
		{"X-Stainless-Timeout", "0.5", 500 * time.Millisecond},
		{"X-Stainless-Timeout", "NaN", 0},
		{"Amz-Sdk-Request", "ttl=20261122T120010Z; attempt=1; max=3", 10 * time.Second},
		{"Amz-Sdk-Request", "ttl=20261122T115950Z; attempt=1; max=3", 0},
		{"Amz-Sdk-Request", "attempt=1; max=3", 0},
		{"X-Other", "1", 0},
	} {
		t.Run(test.name+" "+test.value, func(t *testing.T) {
			assert.Equal(t, test.expect, patience(http.Header{test.name: {test.value}}, now))
		})
	}
	both := http.Header{"Grpc-Timeout": {"5S"}, "X-Envoy-Expected-Rq-Timeout-Ms": {"100"}}
	assert.Equal(t, 100*time.Millisecond, patience(both, now))
}

// TestPatienceClock: an announced end is compared with the Gate's clock.
func TestPatienceClock(t *testing.T) {
	h := full(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	h.Gate.Now = func() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }
	h.Gate.limiter.limit, h.Gate.limiter.least, h.Gate.limiter.median = 2, time.Minute, time.Minute
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Amz-Sdk-Request", "ttl=20200101T000001Z")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	assert.Equal(t, http.StatusTooManyRequests, w.Code)
}

// TestSwitch: a request leaves the Gate when it switches protocols, and not before.
func TestSwitch(t *testing.T) {
	for _, test := range []struct {
		name, request string
		hijack        bool
		expect        int // requests in progress
	}{
		{"WebSocket", "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", true, 0},
		{"CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", true, 0},
		{"not switched", "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", false, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var gate Gate
			end := make(chan struct{})
			server := httptest.NewServer(gate.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if test.hijack {
					conn, _, err := w.(http.Hijacker).Hijack()
					require.NoError(t, err)
					defer conn.Close()
					io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
				} else {
					w.(http.Flusher).Flush()
				}
				<-end
			})))
			defer server.Close()
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			io.WriteString(conn, test.request)
			_, err = bufio.NewReader(conn).ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, test.expect, gate.Stats().InFlight)
			assert.EqualValues(t, 1, gate.Stats().Admitted)
			close(end)
			require.Eventually(t, func() bool { return gate.Stats().InFlight == 0 }, time.Minute, time.Millisecond)
		})
	}
}

var requests = flag.Int("admit.requests", 3000, "requests of TestPlaces")

// TestPlaces: panics, disconnects, aborts and upgrades free their places.
func TestPlaces(t *testing.T) {
	var gate Gate
	var leave sync.Map // from N to the function that cancels the request
	server := httptest.NewUnstartedServer(gate.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n, _ := strconv.Atoi(r.Header.Get("N")); n % 4 {
		case 0:
			panic(http.ErrAbortHandler)
		case 1:
			cancel, _ := leave.Load(n)
			cancel.(context.CancelFunc)()
			<-r.Context().Done() // the client leaves
		case 2:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Write([]byte("hello"))
		}
	})))
	server.Start()
	defer server.Close()
	client := server.Client()
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			for n := worker; n < *requests; n += 8 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if n%4 == 1 {
					leave.Store(n, cancel)
				}
				r, err := http.NewRequestWithContext(ctx, "POST", server.URL, nil)
				assert.NoError(t, err)
				r.Header.Set("N", strconv.Itoa(n))
				if n%40 == 2 {
					r.Header.Set("Upgrade", "websocket")
					r.Header.Set("Connection", "Upgrade")
				}
				if resp, err := client.Do(r); err == nil {
					resp.Body.Close()
				}
				cancel()
			}
		})
	}
	workers.Wait()
	require.Eventually(t, func() bool { return gate.Stats().InFlight == 0 }, time.Minute, time.Millisecond)
	stats := gate.Stats()
	assert.EqualValues(t, *requests, stats.Admitted+stats.Refused)
	t.Logf("%+v", stats)
}
