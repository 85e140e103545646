package admit

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/stretchr/testify/require"
)

// A load is a server with a number of slots, and clients that call it at random times. It
// runs in a bubble of testing/synctest: the time is virtual, net/http and retryhttp are
// real.
type load struct {
	slots   int
	service func(at time.Duration) time.Duration // of a request that begins at a time
	stall   [2]time.Duration                     // nothing ends between these times
	rate    float64                              // calls a second
	burst   int                                  // more calls, at the same time, at half of the length
	length  time.Duration
	timeout time.Duration // of an attempt
	share   func(call int) float64
	gate    *Gate // nil: none
}

// outcome is what became of the calls.
type outcome struct {
	calls, good [2]int // by whether the share is below 1
	served      int
	wasted      int // served after the client had left
	onTime      int // served for a waiting client while calls arrived
	inFlight    int // at the end
}

func (o outcome) percent() float64 {
	return 100 * float64(o.good[0]+o.good[1]) / float64(o.calls[0]+o.calls[1])
}

func (l load) run(t *testing.T) outcome {
	t.Helper()
	server := &slotServer{load: l, start: time.Now(), free: make(chan struct{}, l.slots)}
	var handler http.Handler = server
	if l.gate != nil {
		h := l.gate.Handler(server)
		h.Share = func(r *http.Request) float64 {
			if r.URL.Path == "/low" {
				return 0.75
			}
			return 1
		}
		handler = h
	}
	network := newMemory()
	s := &http.Server{Handler: handler}
	go s.Serve(network)
	defer s.Close()
	transport := &http.Transport{DialContext: network.dial, MaxIdleConnsPerHost: 10_000}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: &retryhttp.Transport{Base: transport, PerHost: retryhttp.Unbudgeted(), Policy: retry.Policy{
		MaxAttempts: 4, AttemptTimeout: l.timeout,
	}}}
	var out outcome
	var mu sync.Mutex
	var calls sync.WaitGroup
	random := rand.New(rand.NewPCG(1, 2))
	burst := l.burst
	for i := 0; time.Since(server.start) < l.length; i++ {
		if burst > 0 && time.Since(server.start) > l.length/2 {
			burst--
		} else {
			time.Sleep(time.Duration(random.ExpFloat64() / l.rate * 1e9))
		}
		kind, path := 0, "/"
		if l.share != nil && l.share(i) < 1 {
			kind, path = 1, "/low"
		}
		calls.Go(func() {
			ok := get(t, client, "http://server"+path)
			mu.Lock()
			defer mu.Unlock()
			out.calls[kind]++
			if ok {
				out.good[kind]++
			}
		})
	}
	calls.Wait()
	time.Sleep(time.Minute) // the server finishes what nobody waits for
	out.served, out.wasted, out.onTime = server.served, server.wasted, server.onTime
	if l.gate != nil {
		out.inFlight = l.gate.Stats().InFlight
	}
	return out
}

func get(t *testing.T, client *http.Client, url string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

// slotServer serves requests in the order of their arrival.
type slotServer struct {
	load
	start time.Time
	free  chan struct{}

	mu                     sync.Mutex
	served, wasted, onTime int
}

func (s *slotServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.free <- struct{}{}
	defer func() { <-s.free }()
	s.mu.Lock()
	s.served++
	if r.Context().Err() != nil {
		s.wasted++
	} else if time.Since(s.start) < s.length {
		s.onTime++
	}
	s.mu.Unlock()
	begin := time.Since(s.start)
	end := begin + s.service(begin)
	if from, to := s.stall[0], s.stall[1]; begin < to && end > from {
		end += to - max(from, begin)
	}
	time.Sleep(end - begin)
}

// memory is a network in memory, because real connections do not work in virtual time.
type memory struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func newMemory() *memory {
	return &memory{connections: make(chan net.Conn), closed: make(chan struct{})}
}

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.connections <- server:
		return client, nil
	case <-m.closed:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.connections:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }
