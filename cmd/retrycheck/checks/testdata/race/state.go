package race

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

type counter struct {
	policy  retry.Policy
	byClass map[string]int
	waits   []time.Duration
	log     bytes.Buffer
	exact   atomic.Int64
	mu      sync.Mutex
}

func newCounter() *counter {
	c := &counter{byClass: map[string]int{}}
	c.policy = retry.Policy{Hooks: retry.Hooks{
		OnRetry: func(_ context.Context, failed retry.Attempt, wait time.Duration) {
			c.byClass[failed.Class.String()]++       // want `they race for c.byClass\[failed.Class.String\(\)\]`
			c.waits = append(c.waits, wait)          // want `they race for c.waits`
			c.log.WriteString("retry")               // want `they race for c.log`
			fmt.Fprintln(&c.log, failed)             // want `they race for c.log`
			c.count("retry")                         // want `they race for c`
			delete(c.byClass, failed.Class.String()) // want `they race for c.byClass`
			c.exact.Add(1)
			c.countLocked("retry")
			c.locked(func() { c.waits = nil })
		},
	}}
	return c
}

func (c *counter) count(what string) { c.byClass[what]++ }

func (c *counter) countLocked(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byClass[what]++
}

func (c *counter) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *counter) call(ctx context.Context, op func(context.Context) error) error {
	return retry.Do(ctx, c.policy, op)
}

// A method, an assignment and a literal of the struct.
func newCounters() []*counter {
	a := &counter{byClass: map[string]int{}}
	a.policy.OnRetry = a.onRetry
	b := new(counter)
	hooks := retry.Hooks{}
	hooks.OnGiveUp = func(_ context.Context, e *retry.Error) {
		b.byClass[e.ReasonLabel()] = e.Attempts // want `they race for b.byClass`
	}
	b.policy = b.policy.With(hooks)
	seen := map[string]bool{}
	d := &counter{policy: retry.Policy{Hooks: retry.Hooks{
		OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			return ctx, func(a retry.Attempt) {
				seen[a.Class.String()] = true // want `they race for seen`
			}
		},
	}}}
	return []*counter{a, b, d}
}

func (c *counter) onRetry(_ context.Context, a retry.Attempt, wait time.Duration) {
	c.waits = append(c.waits, wait) // want `they race for c.waits`
}

var retries int

var counted = retry.Policy{Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) {
	retries++ // want `they race for retries`
}}}

var kinds = map[string]int{}

var sorted = retry.ClassifierFunc(func(err error) retry.Verdict {
	kinds[err.Error()]++ // want `calls that run at the same time call this classifier, so they race for kinds`
	return retry.Verdict{}
})

// countingIn is called for a single call, numbering for all.
func countingIn(n *int) retry.Hooks {
	return retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { *n++ }}
}

func counts(ctx context.Context, op func(context.Context) error) (retries int, err error) {
	err = retry.Do(ctx, logged.With(countingIn(&retries)), op)
	return retries, err
}

func numbering() retry.Policy {
	n := 0
	return retry.Policy{Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) {
		n++ // want `they race for n`
	}}}
}

var numbered = numbering()

// A policy for one call that another function makes.
func helper(ctx context.Context, op func(context.Context) error) int {
	n := 0
	p := logged.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { n++ }})
	if err := runs(ctx, p, op); err != nil {
		return n
	}
	return 0
}

func runs(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	return retry.Do(ctx, p, op)
}

func (c *counter) helper(ctx context.Context, op func(context.Context) error) error {
	p := c.policy.With(retry.Hooks{OnRetry: func(_ context.Context, _ retry.Attempt, wait time.Duration) {
		c.waits = append(c.waits, wait)
	}})
	return runs(ctx, p, op)
}

// A job that one goroutine has.
type job struct {
	policy  retry.Policy
	retries int
}

func newJob() *job {
	j := &job{}
	j.policy = retry.Policy{Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { j.retries++ }}}
	return j
}

func (j *job) run(ctx context.Context, op func(context.Context) error) error {
	return retry.Do(ctx, j.policy, op)
}

func work(ctx context.Context, op func(context.Context) error) int {
	j := newJob()
	_ = j.run(ctx, op)
	return j.retries
}

// Calls under a lock.
type serial struct {
	mu      sync.Mutex
	policy  retry.Policy
	retries int
}

func newSerial() *serial {
	s := &serial{}
	s.policy.OnRetry = func(context.Context, retry.Attempt, time.Duration) { s.retries++ }
	return s
}

func (s *serial) run(ctx context.Context, op func(context.Context) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return retry.Do(ctx, s.policy, op)
}

// Handlers run at the same time.
func handler(op func(context.Context) error) http.HandlerFunc {
	failed := 0
	return func(w http.ResponseWriter, r *http.Request) {
		own := 0
		p := logged.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) {
			failed++ // want `they race for failed`
			own++
		}})
		if err := retry.Do(r.Context(), p, op); err != nil {
			http.Error(w, fmt.Sprint(own), http.StatusBadGateway)
		}
	}
}

func outer(op func(context.Context) error) http.HandlerFunc {
	total := 0
	p := logged.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) {
		total++ // want `they race for total`
	}})
	return func(w http.ResponseWriter, r *http.Request) { _ = retry.Do(r.Context(), p, op) }
}

type server struct{ kinds map[string]int }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := logged.With(retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) {
		s.kinds[e.ReasonLabel()]++ // want `they race for s.kinds`
	}})
	_ = retry.Do(r.Context(), p, func(context.Context) error { return errors.ErrUnsupported })
}

// Keys of requests.
func newClient() *http.Client {
	n := 0
	return &http.Client{Transport: &retryhttp.Transport{IdempotencyKey: func(*http.Request) string {
		n++ // want `calls that run at the same time call this function, so they race for n`
		return fmt.Sprint(n)
	}}}
}

// Calls that a loop starts share the hook.
func all(ctx context.Context, ops []func(context.Context) error) int {
	n := 0
	p := logged.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) {
		n++ // want `they race for n`
	}})
	var group sync.WaitGroup
	for _, op := range ops {
		group.Go(func() { _ = retry.Do(ctx, p, op) })
	}
	group.Wait()
	return n
}

// One after another.
func each(ctx context.Context, ops []func(context.Context) error) int {
	n := 0
	p := logged.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { n++ }})
	for _, op := range ops {
		_ = retry.Do(ctx, p, op)
	}
	return n
}

// A channel as a lock.
func newQueue() *counter {
	c := &counter{}
	turn := make(chan struct{}, 1)
	c.policy.OnRetry = func(_ context.Context, _ retry.Attempt, wait time.Duration) {
		turn <- struct{}{}
		c.waits = append(c.waits, wait)
		<-turn
	}
	return c
}
