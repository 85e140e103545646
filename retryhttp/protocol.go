package retryhttp

import (
	"net/http"
	"sync"
	"sync/atomic"
)

// A memory maps keys to what is known about them. It forgets everything when it is full.
type memory[K comparable, V comparable] struct {
	mu sync.RWMutex
	of map[K]V
}

const maxMemory = 1024

func (m *memory[K, V]) get(key K) V {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.of[key]
}

// set reports whether the value is new.
func (m *memory[K, V]) set(key K, value V) bool {
	if m.get(key) == value {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= maxMemory {
		m.of = map[K]V{}
	}
	known := m.of[key] == value
	m.of[key] = value
	return !known
}

// A host is what a Transport knows about a host. With an outdated protocol, nothing is
// executed twice that must not be, but a resend by net/http may not be counted.
type host struct {
	protocol  atomic.Int32  // the major version of HTTP that it used last; 0: unknown
	responses atomic.Uint32 // that have arrived
}

func (t *Transport) host(name string) *host {
	h := t.hosts.get(name)
	if h == nil {
		h = new(host)
		t.hosts.set(name, h)
	}
	return h
}

func hostOf(req *http.Request) string {
	if req.URL == nil {
		return ""
	}
	return req.URL.Host
}

// isReplayable reports whether net/http resends the request over HTTP/1 although the
// server may have processed it, unless it has a body that cannot be rewound.
func isReplayable(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	_, key := req.Header["Idempotency-Key"]
	_, older := req.Header["X-Idempotency-Key"]
	return key || older
}
