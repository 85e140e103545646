package overload

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gobackoff/retry/internal/test/overload"
)

type front = func(http.Handler) http.Handler

func bucket(rate, burst float64) front {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		tokens, last := burst, time.Now()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now := time.Now()
			tokens, last = min(burst, tokens+now.Sub(last).Seconds()*rate), now
			admitted := tokens >= 1
			if admitted {
				tokens--
			}
			mu.Unlock()
			if !admitted {
				answer(w, http.StatusTooManyRequests, 1)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// onRoute limits the calls to one path.
func onRoute(path string, limit front) front {
	return func(next http.Handler) http.Handler {
		limited := limit(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				limited.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// watched is what became of the calls and requests.
type watched struct {
	overload.Outcome
	mu       sync.Mutex
	requests map[string]int // by path
}

func watch(t *testing.T, l overload.Load, client func(http.RoundTripper, overload.Load) *http.Client, limit front) *watched {
	o := &watched{requests: map[string]int{}}
	o.Outcome = run(t, l, client, func(next http.Handler) http.Handler {
		limited := limit(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			o.mu.Lock()
			o.requests[r.URL.Path]++
			o.mu.Unlock()
			limited.ServeHTTP(w, r)
		})
	})
	return o
}

// unlimited is a server that only the limit in front of it keeps from serving all at once.
func unlimited(rate float64, length time.Duration) overload.Load {
	return overload.Load{Slots: 100_000, Service: always(5 * ms), Timeout: sec, Rate: rate, Length: length}
}
