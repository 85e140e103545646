package retryhttp

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// retriedAbove reports whether the client above retries req by itself.
func (t *Transport) retriedAbove(req *http.Request, to *host) bool {
	kind, attempt, certain := outerAttempt(req.Header)
	if kind == "" {
		return false
	}
	if !certain && attempt <= 1 {
		_, retries := to.outer.Load(kind)
		return retries || t.loops.has(kind, req.UserAgent())
	}
	to.outer.Store(kind, true)
	t.loops.add(kind, req.UserAgent())
	if _, known := t.outer.LoadOrStore(kind, true); !known && t.OnOuterRetry != nil {
		t.OnOuterRetry(kind, req)
	}
	return true
}

// loops are the clients that were found to retry, whichever host they called: the settings of
// an SDK hold for all its hosts. A client is a kind and a User-Agent, so that another SDK of
// the same kind does not count as found.
type loops struct {
	mu    sync.Mutex
	found map[[2]string]bool
}

// maxLoops bounds the memory: a proxy passes on the User-Agents of others.
const maxLoops = 64

func (l *loops) has(kind, agent string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.found[[2]string{kind, agent}]
}

func (l *loops) add(kind, agent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil {
		l.found = map[[2]string]bool{}
	}
	if len(l.found) < maxLoops {
		l.found[[2]string{kind, agent}] = true
	}
}

// outerAttempt returns the kind of client that sent h and the number of its attempt, or
// "". A first attempt may be the only one: only AWS SDKs announce their
// maximum, which proves that they retry.
func outerAttempt(h http.Header) (kind string, attempt int, certain bool) {
	if values := h["Amz-Sdk-Request"]; len(values) > 0 {
		most, ok := numberAfter(values[0], ";", "max=")
		return "AWS SDK", 1, ok && most != 1
	}
	if values := h["X-Stainless-Retry-Count"]; len(values) > 0 {
		retries, _ := strconv.Atoi(values[0])
		return "Stainless SDK", retries + 1, false
	}
	for _, line := range h["X-Goog-Api-Client"] {
		if attempt, ok := numberAfter(line, " ", "gccl-attempt-count/"); ok {
			return "Google Cloud Storage", attempt, false
		}
	}
	return "", 0, false
}

func numberAfter(text, separator, name string) (int, bool) {
	for part := range strings.SplitSeq(text, separator) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(part), name); ok {
			n, _ := strconv.Atoi(value)
			return n, true
		}
	}
	return 0, false
}
