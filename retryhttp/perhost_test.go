package retryhttp_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retryhttp"
)

func TestPerHostKeys(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"http://host/a", "http://host/b?c", true},
		{"http://host/", "http://HOST:80/", true},
		{"https://host/", "HTTPS://host:443/", true},
		{"http://[::1]/", "http://[::1]:80/", true},
		{"http://user@host/", "http://host/", true},
		{"http://host/", "https://host/", false},
		{"http://host/", "http://host:8080/", false},
		{"http://host/", "http://other/", false},
		{"http://a.host/", "http://b.host/", false},
	} {
		p := &retryhttp.PerHost{}
		assert.Equal(t, tt.same, p.Budget(parse(t, tt.a)) == p.Budget(parse(t, tt.b)), "%s and %s", tt.a, tt.b)
	}
}

func TestPerHostLimit(t *testing.T) {
	var made []string
	p := &retryhttp.PerHost{MaxHosts: 2, New: func(host string) retry.Budget {
		made = append(made, host)
		return &awspreset.TokenBudget{}
	}}
	a := p.Budget(parse(t, "http://a"))
	for _, host := range []string{"b", "a", "c", "a", "d", "a", "b"} {
		got := p.Budget(parse(t, "https://"+host+":80"))
		assert.Equal(t, host == "a", got == a, host)
	}
	assert.Equal(t, []string{"a:80", "b:80", "c:80", "d:80", "b:80"}, made)

	p = &retryhttp.PerHost{}
	first := p.Budget(parse(t, "http://host"))
	for i := range 1023 {
		p.Budget(parse(t, fmt.Sprintf("http://host%d", i)))
	}
	assert.Same(t, first, p.Budget(parse(t, "http://host")), "1024 budgets are kept by default")
	for i := range 1024 {
		p.Budget(parse(t, fmt.Sprintf("http://other%d", i)))
	}
	assert.NotSame(t, first, p.Budget(parse(t, "http://host")))
}

// TestPerHost: a host that is down uses up only its own retries, across all Transports.
// The policy's budget is not used.
func TestPerHost(t *testing.T) {
	policy := quick()
	policy.Budget = &awspreset.TokenBudget{Capacity: 100}
	hosts := &retryhttp.PerHost{New: func(host string) retry.Budget {
		if host == "boundless:80" {
			return nil
		}
		return &awspreset.TokenBudget{Capacity: 3, Costs: awspreset.TokenCosts{Transient: 1}}
	}}
	sent := func(address string) int {
		base := &script{replies: []reply{{status: 503}}}
		req := request(t, "GET", "")
		req.URL = parse(t, address)
		_, err := (&retryhttp.Transport{Base: base, Policy: policy, PerHost: hosts}).RoundTrip(req)
		require.NoError(t, err)
		return len(base.requests)
	}
	assert.Equal(t, []int{3, 2, 1}, []int{sent("http://a"), sent("http://a"), sent("http://a")})
	assert.Equal(t, 3, sent("http://b"))
	assert.Equal(t, []int{3, 3, 3}, []int{sent("http://boundless"), sent("http://boundless"), sent("http://boundless")})
	assert.Equal(t, 100., policy.Budget.(*awspreset.TokenBudget).Balance())

	req := request(t, "GET", "")
	req.URL = nil // for Base to refuse
	_, err := (&retryhttp.Transport{PerHost: hosts}).RoundTrip(req)
	assert.ErrorContains(t, err, "nil Request.URL")
}

func TestPerHostShared(t *testing.T) {
	var mu sync.Mutex
	made := map[string]int{}
	p := &retryhttp.PerHost{MaxHosts: 8, New: func(host string) retry.Budget {
		mu.Lock()
		defer mu.Unlock()
		made[host]++
		return &awspreset.TokenBudget{}
	}}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 1000 {
				u := &url.URL{Scheme: "http", Host: fmt.Sprint("host", rand.IntN(8))}
				p.Budget(u).Deposit(retry.Attempt{}, nil)
			}
		})
	}
	group.Wait()
	for host, times := range made {
		assert.Equal(t, 1, times, host)
	}
}

// TestDefaultBudget: without a Budget, each host has its own; WithPolicy does not change
// that.
func TestDefaultBudget(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*retryhttp.Transport)
		sent   int
	}{
		{"default", func(*retryhttp.Transport) {}, 20 + 5},
		{"another Budget", func(tr *retryhttp.Transport) { tr.Policy.Budget = &awspreset.TokenBudget{Capacity: 28} }, 20 + 2},
		{"another PerHost", func(tr *retryhttp.Transport) {
			tr.PerHost = &retryhttp.PerHost{New: func(string) retry.Budget { return &awspreset.TokenBudget{Capacity: 42} }}
		}, 20 + 3},
		{"none", func(tr *retryhttp.Transport) { tr.Policy.Budget = retry.NoBudget{} }, 20 * 3},
		{"none, as text", func(tr *retryhttp.Transport) {
			p := retryconfig.Policy{Policy: tr.Policy}
			require.NoError(t, p.UnmarshalText([]byte("no-delay attempts=3 budget=none")))
			tr.Policy = p.Policy
		}, 20 * 3},
	} {
		base := &script{replies: []reply{{status: 503}}}
		transport := &retryhttp.Transport{Base: base, Policy: quick()}
		tt.change(transport)
		for i := range 20 {
			req := request(t, "GET", "")
			if p := transport.Policy; i%2 == 1 {
				req = req.WithContext(retryhttp.WithPolicy(req.Context(), p))
			}
			_, err := transport.RoundTrip(req)
			require.NoError(t, err)
		}
		assert.Len(t, base.requests, tt.sent, tt.name)
		other := request(t, "GET", "")
		other.URL = parse(t, "http://other/")
		_, err := transport.RoundTrip(other)
		require.NoError(t, err)
		if tt.name != "another Budget" {
			assert.Len(t, base.requests, tt.sent+3, "%s: another host", tt.name)
		}
	}
}

// TestRateLimit: with the default budget and no Limiter, the calls of a client survive a rate
// limit, and a host that fails without a hint gets few retries.
func TestRateLimit(t *testing.T) {
	for _, tt := range []struct {
		name     string
		after    string // Retry-After
		good     int    // calls
		requests int
	}{
		{"429 with a hint", "2", 900, 1800},
		{"429 without a hint", "", 0, 900 + 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var requests, good atomic.Int64
				client := &http.Client{Transport: &retryhttp.Transport{PerScope: retryhttp.Unlimited(), Base: roundTripper(func(req *http.Request) (*http.Response, error) {
					requests.Add(1)
					resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}
					if tt.after == "" || time.Since(start) < 2*time.Second {
						resp.StatusCode = 429
						resp.Header.Set("Retry-After", tt.after)
					}
					return resp, nil
				})}}
				var calls sync.WaitGroup
				for range 900 {
					time.Sleep(time.Second / 900)
					calls.Go(func() {
						resp, err := client.Get("http://host")
						if assert.NoError(t, err) && resp.StatusCode == 200 {
							good.Add(1)
						}
					})
				}
				calls.Wait()
				assert.EqualValues(t, tt.good, good.Load())
				assert.EqualValues(t, tt.requests, requests.Load())
			})
		})
	}
}

// TestBrokenRoute: a route that only fails, and makes a tenth or half of the requests, does
// not stop the retries of the others, whether or not its path contains an ID.
func TestBrokenRoute(t *testing.T) {
	for name, tt := range map[string]struct {
		every  int
		broken func(i int) string
	}{
		"a tenth":         {10, func(int) string { return "/broken" }},
		"half":            {2, func(int) string { return "/broken" }},
		"half, with IDs":  {2, func(i int) string { return fmt.Sprint("/users/", i, "/photo") }},
		"half, with keys": {2, func(i int) string { return fmt.Sprintf("/by-key/%x4", i) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent, lost atomic.Int64
				client := &http.Client{Transport: &retryhttp.Transport{Base: roundTripper(func(req *http.Request) (*http.Response, error) {
					time.Sleep(10 * time.Millisecond)
					if req.URL.Path != "/healthy" {
						sent.Add(1)
						return nil, errReset
					}
					if req.URL.RawQuery == "first" && retryhttp.AttemptNumber(req.Context()) == 1 {
						return nil, errReset
					}
					return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
				})}}
				var calls sync.WaitGroup
				for i := range 4000 {
					time.Sleep(10 * time.Millisecond)
					url := "http://host" + tt.broken(i)
					if i%tt.every != 0 {
						url = "http://host/healthy"
						if i%50 == 1 {
							url += "?first"
						}
					}
					calls.Go(func() {
						_, err := client.Get(url)
						if err != nil && strings.Contains(url, "/healthy") {
							lost.Add(1)
						}
					})
				}
				calls.Wait()
				assert.Zero(t, lost.Load(), "requests to the healthy route")
				assert.Less(t, sent.Load(), int64(4000/tt.every+100), "to the broken one")
			})
		})
	}
}
