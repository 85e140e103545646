package http_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// TestHints: 300 calls, one each millisecond, to a server that refuses everything at first,
// and says for how long. Without a Limiter, nearly all make two requests.
func TestHints(t *testing.T) {
	const calls = 300
	base := &http.Transport{MaxIdleConnsPerHost: calls}
	defer base.CloseIdleConnections()
	ours := func(perScope *retryhttp.PerScope) *http.Client {
		return &http.Client{Transport: &retryhttp.Transport{Base: base, Policy: retry.Policy{MaxAttempts: bothAttempts}, PerScope: perScope}}
	}
	requests := func(client *http.Client, closed time.Duration) int {
		var mu sync.Mutex
		var opens time.Time
		arrived := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if arrived++; opens.IsZero() {
				opens = time.Now().Add(closed)
			}
			if left := time.Until(opens); left > 0 {
				w.Header().Set("Retry-After", fmt.Sprint(1+int(left/time.Second)))
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}))
		defer server.Close()
		var all sync.WaitGroup
		for range calls {
			time.Sleep(time.Millisecond)
			all.Go(func() {
				resp, err := client.Get(server.URL + "/route")
				if assert.NoError(t, err) {
					assert.Equal(t, http.StatusOK, resp.StatusCode)
					_, err = io.Copy(io.Discard, resp.Body)
					assert.NoError(t, err)
					assert.NoError(t, resp.Body.Close())
				}
			})
		}
		all.Wait()
		return arrived
	}
	for closed := time.Second; ; closed *= 2 { // the machine may be slow
		peer, without, with := requests(newPeer(base).StandardClient(), closed), requests(ours(retryhttp.Unlimited()), closed), requests(ours(nil), closed)
		t.Logf("%d calls, %v: %d requests of go-retryablehttp, %d of retryhttp without its Limiters, %d with them", calls, closed, peer, without, with)
		if peer > calls*17/10 && without > calls*17/10 && with < calls*15/10 {
			return
		}
		if closed > 10*time.Second {
			t.Fatal("a Limiter saves too few requests")
		}
	}
}
