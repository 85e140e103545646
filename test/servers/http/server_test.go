package http_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// scripted uses its handlers in order, then repeats the last one.
type scripted struct {
	url string

	mu       sync.Mutex
	bodies   []string
	parents  []string // Traceparent headers
	attempts []string // Attempt headers
	handlers []http.HandlerFunc
}

func newScripted(t *testing.T, handlers ...http.HandlerFunc) *scripted {
	s := &scripted{handlers: handlers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	s.parents = append(s.parents, r.Header.Get("Traceparent"))
	s.attempts = append(s.attempts, r.Header.Get("Attempt"))
	next := s.handlers[min(len(s.bodies), len(s.handlers))-1]
	s.mu.Unlock()
	next(w, r)
}

func (s *scripted) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = nil
}

func gives(status, length int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(length))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("x", length)) // the client may be gone
	}
}

func dies(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func drop(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil && reset {
		err = conn.(*net.TCPConn).SetLinger(0)
	}
	if err != nil {
		panic(err)
	}
	_ = conn.Close()
}

func newBase(t *testing.T) *http.Transport {
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return base
}

func whole(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return string(data)
}
