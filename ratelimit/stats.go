package ratelimit

import "time"

// Stats is what a Limiter knows, for logs and metrics.
type Stats struct {
	States  []State       // the limits of the latest responses, minus the calls that began since
	Waiting int           // calls that wait
	Waits   int           // attempts that had to wait so far
	Waited  time.Duration // the sum of their waits
}

// Stats returns what the Limiter knows now.
func (l *Limiter) Stats() Stats {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Waiting = l.waiting()
	for _, d := range l.levels {
		if d.known {
			s.States = append(s.States, d.state(now))
		}
	}
	return s
}
