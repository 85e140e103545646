package retryhttp

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// outer remembers which clients above a Transport retry.
type outer struct {
	mu   sync.Mutex
	seen map[outerClient]bool
}

// An outerClient is a kind of client, of one host or of any.
type outerClient struct{ kind, host string }

const maxOuter = 1024

// retriedAbove reports whether the client above retries req by itself.
func (t *Transport) retriedAbove(req *http.Request) bool {
	kind, attempt, certain := outerAttempt(req.Header)
	if kind == "" {
		return false
	}
	client := outerClient{kind: kind}
	if req.URL != nil {
		client.host = req.URL.Host
	}
	t.outer.mu.Lock()
	seen := t.outer.seen[client]
	retries := certain || attempt > 1
	first := retries && !t.outer.seen[outerClient{kind: kind}]
	if retries && !seen {
		if t.outer.seen == nil || len(t.outer.seen) >= maxOuter {
			t.outer.seen = map[outerClient]bool{}
		}
		t.outer.seen[client], t.outer.seen[outerClient{kind: kind}] = true, true
	}
	t.outer.mu.Unlock()
	if first && t.OnOuterRetry != nil {
		t.OnOuterRetry(kind, req)
	}
	return retries || seen
}

// outerAttempt returns the kind of client that sent h and the number of its attempt, or
// "". A first attempt may be the only one: only AWS SDKs, which send their maximum, make
// it certain that they retry.
func outerAttempt(h http.Header) (kind string, attempt int, certain bool) {
	if values := h["Amz-Sdk-Request"]; len(values) > 0 {
		most, ok := numberAfter(values[0], ";", "max=")
		return "AWS SDK", 1, ok && most != 1
	}
	if values := h["X-Stainless-Retry-Count"]; len(values) > 0 {
		retries, err := strconv.Atoi(values[0])
		if err != nil {
			return "", 0, false
		}
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
