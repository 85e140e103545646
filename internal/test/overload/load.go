// Package overload puts load on an HTTP server that serves a limited number of requests
// at a time. It is the harness for package admit, in virtual time (in a bubble of
// testing/synctest) or in real time.
package overload

import (
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gobackoff/retry/internal/memnet"
)

// A Load is a server with a number of slots, which serves requests in the order of their
// arrival, and calls that begin at random times.
type Load struct {
	Slots    int                                  // requests served at the same time
	Service  func(at time.Duration) time.Duration // how long a request takes that begins at a time
	Stall    [2]time.Duration                     // nothing ends between these times
	Rate     float64                              // calls a second
	Burst    int                                  // more calls, at the same time, at half of Length
	Length   time.Duration
	Timeout  time.Duration // of an attempt
	Deadline time.Duration // of a call; 0: 10 s
	Announce string        // the header in which clients announce Timeout; "": none
	Seed     uint64        // of the random times at which calls begin

	Paths  []string                                   // of the calls, in turn; nil: "/"
	Admit  func(http.Handler) http.Handler            // what is in front of the server; nil: nothing
	Client func(http.RoundTripper, Load) *http.Client // a client with retries
	Real   bool                                       // over the loopback interface; otherwise, in memory
	HTTP2  bool                                       // without TLS
	Done   func(second int, ok bool)                  // called for each call, by the second of its start; nil: not called
}

// An Outcome is what became of the calls.
type Outcome struct {
	Calls, Good map[string]int // by path
	Served      int            // requests
	Wasted      int            // requests served after their clients had left
	OnTime      int            // requests served for waiting clients during Length
}

// Percent returns the share of the calls to a path that succeeded; "": of all calls.
func (o Outcome) Percent(path string) float64 {
	calls, good := 0, 0
	for p, n := range o.Calls {
		if path == "" || p == path {
			calls, good = calls+n, good+o.Good[p]
		}
	}
	return 100 * float64(good) / float64(calls)
}

// Run makes the calls. It ends when the server has served everything.
func (l Load) Run(ctx context.Context) (Outcome, error) {
	server := &slots{load: l, start: time.Now(), free: make(chan struct{}, l.Slots)}
	var handler http.Handler = server
	if l.Admit != nil {
		handler = l.Admit(server)
	}
	listener, dial, err := l.network()
	if err != nil {
		return Outcome{}, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!l.HTTP2)
	protocols.SetUnencryptedHTTP2(l.HTTP2)
	s := &http.Server{Handler: handler, Protocols: protocols}
	go s.Serve(listener)
	defer s.Close()
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 10_000, Protocols: protocols}
	defer transport.CloseIdleConnections()
	out := l.call(ctx, l.Client(transport, l), "http://"+listener.Addr().String(), server.start)
	for ctx.Err() == nil && len(server.free)+int(server.waiting.Load()) > 0 {
		time.Sleep(100 * time.Millisecond)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	out.Served, out.Wasted, out.OnTime = server.served, server.wasted, server.onTime
	return out, ctx.Err()
}

func (l Load) call(ctx context.Context, client *http.Client, url string, start time.Time) Outcome {
	out := Outcome{Calls: map[string]int{}, Good: map[string]int{}}
	var mu sync.Mutex
	var calls sync.WaitGroup
	random := rand.New(rand.NewPCG(1+l.Seed, 2))
	next, burst := start, l.Burst
	for i := 0; next.Sub(start) < l.Length && ctx.Err() == nil; i++ {
		if burst > 0 && next.Sub(start) > l.Length/2 {
			burst--
		} else {
			next = next.Add(time.Duration(random.ExpFloat64() / l.Rate * 1e9))
			time.Sleep(time.Until(next))
		}
		path := "/"
		if l.Paths != nil {
			path = l.Paths[i%len(l.Paths)]
		}
		began := int(next.Sub(start) / time.Second)
		calls.Go(func() {
			ok := l.get(ctx, client, url+path)
			mu.Lock()
			defer mu.Unlock()
			out.Calls[path]++
			if ok {
				out.Good[path]++
			}
			if l.Done != nil {
				l.Done(began, ok)
			}
		})
	}
	calls.Wait()
	return out
}

func (l Load) get(ctx context.Context, client *http.Client, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(l.Deadline, 10*time.Second))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

func (l Load) network() (net.Listener, func(context.Context, string, string) (net.Conn, error), error) {
	if l.Real {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		return listener, new(net.Dialer).DialContext, err
	}
	m := memnet.New()
	return m, m.Dial, nil
}
