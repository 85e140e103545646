package retryhttp

import (
	"net/http"
	"sync"
)

// protocols remembers which version of HTTP each host uses. With an outdated entry,
// nothing is executed twice that must not be, but a resend by net/http may not be counted.
type protocols struct {
	mu sync.RWMutex
	of map[string]int
}

const maxProtocols = 1024

// protocolOf returns the major version of HTTP that the host of x used last, or 0 if it
// is not known or does not matter.
func (t *Transport) protocolOf(x *exchange) int {
	if x.empty == (x.direct != nil) || x.request.URL == nil {
		return 0
	}
	t.protocols.mu.RLock()
	defer t.protocols.mu.RUnlock()
	return t.protocols.of[x.request.URL.Host]
}

func (t *Transport) learn(x *exchange, protocol int) {
	if x.request.URL == nil {
		return
	}
	t.protocols.mu.RLock()
	known := t.protocols.of[x.request.URL.Host] == protocol
	t.protocols.mu.RUnlock()
	if known {
		return
	}
	t.protocols.mu.Lock()
	defer t.protocols.mu.Unlock()
	if t.protocols.of == nil || len(t.protocols.of) >= maxProtocols {
		t.protocols.of = map[string]int{}
	}
	t.protocols.of[x.request.URL.Host] = protocol
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
