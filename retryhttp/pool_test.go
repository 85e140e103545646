package retryhttp_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// keyed is a server that answers by the key of a request, and a client with a Pool of the keys. No word
// in the header's name says that it has a credential.
type keyed struct {
	mu     sync.Mutex
	sent   map[string]int
	answer func(key, path string) (int, http.Header)
	pool   *retryhttp.Pool[string]
	client *http.Client
}

func newKeyed(keys string, answer func(key, path string) (int, http.Header)) *keyed {
	k := &keyed{sent: map[string]int{}, answer: answer}
	k.pool = &retryhttp.Pool[string]{Values: strings.Fields(keys), Set: retryhttp.InHeader("X-Which", "")}
	k.client = &http.Client{Transport: &retryhttp.Transport{Sign: k.pool.Sign, Base: roundTripper(func(req *http.Request) (*http.Response, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		key := req.Header.Get("X-Which")
		k.sent[key]++
		status, header := k.answer(key, req.URL.Path)
		if header == nil {
			header = http.Header{}
		}
		return &http.Response{StatusCode: status, Header: header, Body: http.NoBody, Request: req}, nil
	})}}
	return k
}

// counts returns how often each key was sent.
func (k *keyed) counts() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(k.sent)) {
		parts = append(parts, fmt.Sprint(key, ":", k.sent[key]))
	}
	return strings.Join(parts, " ")
}

func after(seconds int) http.Header {
	return http.Header{"Retry-After": {strconv.Itoa(seconds)}}
}

// TestPool: what one call a second does to the keys in a minute, and how long the calls take together.
func TestPool(t *testing.T) {
	nothingLeft := http.Header{"X-Ratelimit-Limit": {"10"}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"30"}}
	for _, tt := range []struct {
		name   string
		answer func(key, path string) (int, http.Header)
		sent   string
		status int
	}{
		{"in turn", func(string, string) (int, http.Header) { return 200, nil }, "a:20 b:20 c:20", 200},
		{"one is throttled, with a hint", func(key, _ string) (int, http.Header) {
			if key == "a" {
				return 429, after(3600)
			}
			return 200, nil
		}, "a:1 b:30 c:30", 200},
		{"one is throttled, without a hint", func(key, _ string) (int, http.Header) {
			if key == "a" {
				return 429, nil
			}
			return 200, nil
		}, "a:6 b:30 c:30", 200},
		{"one is wrong", func(key, _ string) (int, http.Header) {
			if key == "a" {
				return 401, nil
			}
			return 200, nil
		}, "a:1 b:30 c:30", 200},
		{"two are wrong", func(key, _ string) (int, http.Header) {
			if key != "c" {
				return 401, nil
			}
			return 200, nil
		}, "a:1 b:1 c:60", 200},
		{"nothing is left of one", func(key, _ string) (int, http.Header) {
			if key == "a" {
				return 200, nothingLeft
			}
			return 200, nil
		}, "a:2 b:29 c:29", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeyed("a b c", tt.answer)
				start := time.Now()
				for range 60 {
					status, err := post1(k.client, "http://h/", "x")
					assert.NoError(t, err)
					assert.Equal(t, tt.status, status)
					time.Sleep(time.Second)
				}
				assert.Equal(t, time.Minute, time.Since(start))
				assert.Equal(t, tt.sent, k.counts())
			})
		})
	}
}

// TestPoolRests: if all keys rest, no request is sent, and the call goes on when the first is back,
// which may be another one than the last that was refused.
func TestPoolRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		until := map[string]time.Duration{"a": 5 * time.Second, "b": 50 * time.Second, "c": 59 * time.Second}
		k := newKeyed("a b c", func(key, _ string) (int, http.Header) {
			left := until[key] - time.Since(start)
			if left > 0 {
				return 429, after(int(left.Seconds()))
			}
			return 200, nil
		})
		for range 2 {
			status, err := post1(k.client, "http://h/", "x")
			assert.NoError(t, err)
			assert.Equal(t, 200, status)
		}
		assert.Equal(t, "a:3 b:1 c:1", k.counts())
		assert.Less(t, time.Since(start), 6*time.Second)

		// For longer than a call may wait, it is an error that says so.
		until["a"], until["b"], until["c"] = time.Hour, time.Hour, time.Hour
		for range 3 {
			_, _ = post1(k.client, "http://h/", "x")
			time.Sleep(time.Minute)
		}
		sent := k.counts()
		_, err := post1(k.client, "http://h/", "x")
		assert.ErrorContains(t, err, "all 3 values of the Pool rest")
		verdict := retry.Policy{}.Classify(err)
		assert.Equal(t, retry.ClassThrottled, verdict.Class)
		assert.Equal(t, sent, k.counts())
	})
}

// TestPoolHint: a response that refuses one key says nothing about the others, of which one may be back
// earlier.
func TestPoolHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeyed("a b", func(key, _ string) (int, http.Header) { return 429, after(map[string]int{"a": 5, "b": 50}[key]) })
		k.client.Transport.(*retryhttp.Transport).Policy.MaxAttempts = 1
		resp, err := k.client.Post("http://h/", "", strings.NewReader("x"))
		require.NoError(t, err)
		failed, ok := errors.AsType[*retryhttp.StatusError](retryhttp.CheckStatus(resp))
		assert.True(t, ok)
		assert.Equal(t, "50", failed.Response.Header.Get("Retry-After"))
		assert.Equal(t, 5*time.Second, failed.RetryAfter())
	})
}

// TestPoolOfARoute: a route that refuses every key does not take them away from other routes, and a server
// that refuses every key for ever gets few requests more than there are calls.
func TestPoolOfARoute(t *testing.T) {
	for _, tt := range []struct {
		name      string
		elsewhere int // the status of other routes
		requests  int // at most
	}{
		{"one route", 200, 1250},
		{"every route", 401, 650},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeyed("a b c", func(_, path string) (int, http.Header) {
					if path == "/secret" {
						return 401, nil
					}
					return tt.elsewhere, nil
				})
				start := time.Now()
				for i := range 600 {
					path, want := "/secret", 401
					if i%2 == 1 {
						path, want = "/", tt.elsewhere
					}
					status, err := post1(k.client, "http://h"+path, "x")
					assert.NoError(t, err)
					assert.Equal(t, want, status)
					time.Sleep(time.Second)
				}
				assert.Equal(t, 10*time.Minute, time.Since(start), "nothing waits")
				sent := k.sent["a"] + k.sent["b"] + k.sent["c"]
				assert.LessOrEqual(t, sent, tt.requests)
			})
		})
	}
}

// TestPoolOfMany: fifty callers at once, of whose keys half are refused.
func TestPoolOfMany(t *testing.T) {
	k := newKeyed("a b c d e f", func(key, _ string) (int, http.Header) {
		if key < "d" {
			return 429, after(60)
		}
		return 200, nil
	})
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			for range 20 {
				status, err := post1(k.client, "http://h/", "x")
				assert.NoError(t, err)
				assert.Equal(t, 200, status)
			}
		})
	}
	callers.Wait()
	assert.Equal(t, 1000, k.sent["d"]+k.sent["e"]+k.sent["f"])
	assert.InDelta(t, 1000/3, k.sent["d"], 50)
}

// TestPoolLimits: a call sends nine requests within an attempt at most, however many keys there are. With
// a body that can be sent only once, it returns the refusal.
func TestPoolLimits(t *testing.T) {
	refusing := func(string, string) (int, http.Header) { return 429, after(600) }
	k := newKeyed("a b c d e f g h i j k l", refusing)
	k.client.Transport.(*retryhttp.Transport).Policy.MaxAttempts = retry.NoRetry
	status, err := post1(k.client, "http://h/", "x")
	assert.NoError(t, err)
	assert.Equal(t, 429, status)
	assert.Len(t, k.sent, 9)

	k = newKeyed("a b", refusing)
	req, err := http.NewRequest(http.MethodPost, "http://h/", strings.NewReader("x"))
	require.NoError(t, err)
	req.GetBody = nil
	resp, err := k.client.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 429, resp.StatusCode)
	assert.Len(t, k.sent, 1)
}

// TestPoolInvalid: nothing is sent.
func TestPoolInvalid(t *testing.T) {
	for want, pool := range map[string]*retryhttp.Pool[string]{
		"it has no Values": {Set: bearer},
		"it has no Set":    {Values: []string{"a"}},
	} {
		sent := 0
		client := signedBy(pool.Sign, func(string) int {
			sent++
			return 200
		})
		_, err := post1(client, "http://h/", "x")
		assert.ErrorContains(t, err, want)
		assert.ErrorIs(t, err, retry.ErrInvalid)
		assert.Zero(t, sent)
	}
}
