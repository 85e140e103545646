package overload

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// slots serves requests in the order of their arrival. It does not notice that a client
// has left.
type slots struct {
	load    Load
	start   time.Time
	free    chan struct{}
	waiting atomic.Int64

	mu                     sync.Mutex
	served, wasted, onTime int
}

func (s *slots) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.waiting.Add(1)
	s.free <- struct{}{}
	s.waiting.Add(-1)
	defer func() { <-s.free }()
	begin := time.Since(s.start)
	s.count(begin, r.Context().Err() != nil)
	end := begin + s.load.Service(begin)
	if from, to := s.load.Stall[0], s.load.Stall[1]; begin < to && end > from {
		end += to - max(from, begin)
	}
	time.Sleep(end - begin)
}

func (s *slots) count(begin time.Duration, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served++
	switch {
	case left:
		s.wasted++
	case begin < s.load.Length:
		s.onTime++
	}
}
