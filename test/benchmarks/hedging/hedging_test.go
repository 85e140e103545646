// Package hedging compares clients that send a second copy of a slow request: nothing,
// hedgedhttp, failsafe-go, and a Transport with a Hedge. The server takes 15 ms or more, and
// 500 ms for 2 % of the requests, and for 40 % of them in a brown-out. By default, all but
// hedgedhttp run in virtual time, which its pool of goroutines does not allow:
//
//	go test -v ./hedging
//	go test -v ./hedging -real -calls 4000    (everything, over the loopback interface)
package hedging

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cristalhq/hedgedhttp"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp"
)

var (
	inReal = flag.Bool("real", false, "run in real time, over the loopback interface")
	calls  = flag.Int("calls", 1000, "calls of each phase")
	slow   = flag.Int64("slow", 400, "requests per thousand that are slow in the brown-out")
	rate   = flag.Float64("rate", 200, "calls a second")
)

const fixed = 60 * time.Millisecond

type client struct {
	name    string
	real    bool // does not work in virtual time
	wrapped func(http.RoundTripper) http.RoundTripper
}

func clients(t *testing.T) []client {
	failsafe := func(b hedgepolicy.Builder[*http.Response]) func(http.RoundTripper) http.RoundTripper {
		return func(base http.RoundTripper) http.RoundTripper { return failsafehttp.NewRoundTripper(base, b.Build()) }
	}
	ours := func(make func() *retryhedge.Hedge) func(http.RoundTripper) http.RoundTripper {
		return func(base http.RoundTripper) http.RoundTripper {
			return &retryhttp.Transport{Base: base, Hedge: make()}
		}
	}
	return []client{
		{"nothing", false, func(base http.RoundTripper) http.RoundTripper { return base }},
		{"hedgedhttp, 60 ms", true, func(base http.RoundTripper) http.RoundTripper {
			rt, err := hedgedhttp.NewRoundTripper(fixed, 2, base)
			require.NoError(t, err)
			return rt
		}},
		{"failsafe-go, 60 ms", false, failsafe(hedgepolicy.NewBuilderWithDelay[*http.Response](fixed))},
		{"failsafe-go, 95 %, budget", false, failsafe(hedgepolicy.NewBuilderWithDelayQuantile[*http.Response](0.95, 500, 100).WithBudget(budget.New()))},
		{"Hedge", false, ours(func() *retryhedge.Hedge { return &retryhedge.Hedge{} })},
		{"Hedge, 98 %, 5 %", false, ours(func() *retryhedge.Hedge { return &retryhedge.Hedge{Quantile: 0.98, Share: 0.05} })},
		{"Hedge, 60 ms", false, ours(func() *retryhedge.Hedge { return &retryhedge.Hedge{After: fixed} })},
	}
}

// A server takes a share of the requests for slow ones.
type server struct {
	slow     atomic.Int64 // per thousand
	requests atomic.Int64

	mu       sync.Mutex
	executed map[string]int // POSTs by their header Id
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if id := r.Header.Get("Id"); id != "" {
		s.mu.Lock()
		s.executed[id]++
		s.mu.Unlock()
	}
	takes := 15*time.Millisecond + time.Duration(mathrand.ExpFloat64()*float64(5*time.Millisecond))
	if mathrand.Int64N(1000) < s.slow.Load() {
		takes = 500 * time.Millisecond
	}
	time.Sleep(takes)
	_, _ = io.WriteString(w, "content")
}

// A phase is some calls to a server of which a share is slow.
type phase struct {
	name   string
	method string
	slow   int64 // per thousand
	calls  int
}

type figures struct {
	p50, p99, p999 time.Duration
	load           float64 // requests per call
	twice          int     // POSTs executed more than once
	failed         int64   // calls
	long           float64 // percent of the calls that took more than 0.9 s
}

func TestClients(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, c := range clients(t) {
			if c.real && !*inReal {
				continue
			}
			t.Run(fmt.Sprintf("HTTP2=%v/%s", http2, c.name), func(t *testing.T) {
				found := run(t, c, http2)
				if strings.HasPrefix(c.name, "Hedge") {
					assert.Zero(t, found["POST in a brown-out"].twice)
					assert.Equal(t, 1.0, found["POST in a brown-out"].load)
				}
				if c.name == "Hedge" && !*inReal {
					assert.Less(t, found["tail"].p99, 100*time.Millisecond)
					assert.LessOrEqual(t, found["brown-out"].load, 1.06)
				}
			})
		}
	}
}

// run makes the calls of all phases with a client.
func run(t *testing.T, c client, http2 bool) (found map[string]figures) {
	t.Helper()
	if *inReal {
		return measure(t, c, http2)
	}
	synctest.Test(t, func(t *testing.T) { found = measure(t, c, http2) })
	return found
}

func measure(t *testing.T, c client, http2 bool) map[string]figures {
	s := &server{executed: map[string]int{}}
	listener, dial := network(t)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetUnencryptedHTTP2(http2)
	web := &http.Server{Handler: s, Protocols: protocols}
	go web.Serve(listener)
	defer time.Sleep(time.Second) // until the handlers have returned
	defer web.Close()
	base := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 1000, Protocols: protocols}
	defer base.CloseIdleConnections()
	client := &http.Client{Transport: c.wrapped(base)}
	url := "http://" + listener.Addr().String()
	found := map[string]figures{}
	for _, p := range []phase{
		{"warm-up", http.MethodGet, 20, 1000},
		{"tail", http.MethodGet, 20, *calls},
		{"brown-out", http.MethodGet, *slow, *calls},
		{"afterwards", http.MethodGet, 20, *calls},
		{"POST in a brown-out", http.MethodPost, 400, 400},
	} {
		f := s.phase(t, client, p, url)
		t.Logf("%-20s p50 %4d ms, p99 %4d ms, p99.9 %4d ms, load %.3f, executed twice %d, failed %d, above 0.9 s %.1f %%", p.name,
			f.p50.Milliseconds(), f.p99.Milliseconds(), f.p999.Milliseconds(), f.load, f.twice, f.failed, f.long)
		found[p.name] = f
	}
	return found
}

func network(t *testing.T) (net.Listener, func(context.Context, string, string) (net.Conn, error)) {
	if !*inReal {
		m := memnet.New()
		return m, m.Dial
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l, new(net.Dialer).DialContext
}

// phase makes calls at random times.
func (s *server) phase(t *testing.T, client *http.Client, p phase, url string) figures {
	s.slow.Store(p.slow)
	before := s.requests.Load()
	took := make([]time.Duration, p.calls)
	var all sync.WaitGroup
	var failed atomic.Int64
	next := time.Now()
	for i := range p.calls {
		next = next.Add(time.Duration(mathrand.ExpFloat64() / *rate * 1e9))
		time.Sleep(time.Until(next))
		all.Go(func() {
			start := time.Now()
			if err := call(t.Context(), client, p.method, url); err != nil {
				failed.Add(1)
			}
			took[i] = time.Since(start)
		})
	}
	all.Wait()
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[int(q*float64(len(took)))] }
	f := figures{p50: at(0.5), p99: at(0.99), p999: at(0.999), failed: failed.Load()}
	f.load = float64(s.requests.Load()-before) / float64(p.calls)
	quick, _ := slices.BinarySearch(took, 900*time.Millisecond)
	f.long = 100 * float64(p.calls-quick) / float64(p.calls)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.executed {
		if n > 1 {
			f.twice++
		}
	}
	return f
}

func call(ctx context.Context, client *http.Client, method, url string) error {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	if method == http.MethodPost {
		req.Header.Set("Id", rand.Text())
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
