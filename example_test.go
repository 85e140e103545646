package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// fetch simulates a network call that fails twice.
func fetch() func(context.Context) (string, error) {
	op := retrytest.Fail(2, io.ErrUnexpectedEOF)
	return func(ctx context.Context) (string, error) {
		if err := op.Run(ctx); err != nil {
			return "", err
		}
		return "the page", nil
	}
}

func Example() {
	policy := retry.Policy{
		Backoff:     retry.FullJitter{Base: 100 * time.Millisecond, Cap: 5 * time.Second},
		MaxAttempts: 5,
		MaxElapsed:  time.Minute,
		Clock:       &retrytest.Clock{}, // do not wait in this example
	}
	page, err := retry.DoValue(context.Background(), policy, fetch())
	fmt.Println(page, err)
	// Output: the page <nil>
}

func ExampleDo() {
	policy := retry.Policy{Clock: &retrytest.Clock{}} // the zero Policy with a virtual clock
	attempts := 0
	err := retry.Do(context.Background(), policy, func(ctx context.Context) error {
		attempts++
		if attempts < 3 {
			return errors.New("connection refused")
		}
		return nil
	})
	fmt.Println(attempts, err)
	// Output: 3 <nil>
}

func ExampleDoValue() {
	clock := &retrytest.Clock{}
	page, err := retry.DoValue(context.Background(), retry.Policy{Clock: clock}, fetch())
	fmt.Println(page, err, len(clock.Waits()))
	// Output: the page <nil> 2
}

func ExampleError() {
	policy := retry.Policy{Backoff: retry.Exponential{Base: time.Second}, Clock: &retrytest.Clock{}}
	err := retry.Do(context.Background(), policy, func(context.Context) error { return io.ErrUnexpectedEOF })
	fmt.Println(err)
	fmt.Println(errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, retry.ErrMaxAttempts))
	if gaveUp, ok := errors.AsType[*retry.Error](err); ok {
		fmt.Println(gaveUp.Attempts, gaveUp.SinceFailure)
	}
	// Output:
	// gave up after 3 attempts (all attempts used): unexpected EOF
	// true true
	// 3 3s
}

func ExamplePermanent() {
	attempts := 0
	err := retry.Do(context.Background(), retry.Policy{}, func(context.Context) error {
		attempts++
		return fmt.Errorf("page 7: %w", retry.Permanent(os.ErrNotExist))
	})
	fmt.Println(attempts, err, errors.Is(err, os.ErrNotExist))
	// Output: 1 page 7: file does not exist true
}

func ExampleTransient() {
	// The classifier considers a missing row permanent, but this row is about to appear.
	row := retrytest.Fail(1, retry.Transient(os.ErrNotExist))
	policy := retry.Policy{Clock: &retrytest.Clock{}, Classifier: retry.ClassifierFunc(func(error) retry.Verdict {
		return retry.Verdict{Class: retry.ClassPermanent}
	})}
	fmt.Println(retry.Do(context.Background(), policy, row.Run), row.Calls())
	// Output: <nil> 2
}

func ExampleThrottled() {
	clock := &retrytest.Clock{}
	policy := retry.Policy{Clock: clock, Backoff: retry.WhenThrottled{
		Throttled: retry.Constant(time.Second),
		Else:      retry.Constant(10 * time.Millisecond),
	}}
	op := retrytest.Script(errors.New("broken pipe"), retry.Throttled(errors.New("too many jobs")), nil)
	fmt.Println(retry.Do(context.Background(), policy, op.Run), clock.Waits())
	// Output: <nil> [10ms 1s]
}

func ExampleAfter() {
	clock := &retrytest.Clock{}
	policy := retry.Policy{Clock: clock, Hint: retry.HintAtLeast{Max: time.Minute, Exact: true}}
	op := retrytest.Fail(1, retry.After(errors.New("busy"), 30*time.Second)) // the server's Retry-After
	fmt.Println(retry.Do(context.Background(), policy, op.Run), clock.Waits())
	// Output: <nil> [30s]
}

func ExampleHintOrGiveUp() {
	// Trying another replica is better than a long wait for this one.
	policy := retry.Policy{Hint: retry.HintOrGiveUp{Max: 5 * time.Second}}
	err := retry.Do(context.Background(), policy, func(context.Context) error {
		return retry.After(errors.New("replica is down for repairs"), 10*time.Minute)
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, retry.ErrHint))
	// Output:
	// gave up after 1 attempt (server asks for too long a wait, next wait 10m0s): replica is down for repairs
	// true
}

func ExampleFirstOf() {
	ours := retry.ClassifierFunc(func(err error) retry.Verdict {
		if errors.Is(err, os.ErrPermission) {
			return retry.Verdict{Class: retry.ClassPermanent}
		}
		return retry.Verdict{} // no opinion
	})
	classifier := retry.FirstOf(ours, retry.DefaultClassifier{})
	fmt.Println(classifier.Classify(os.ErrPermission).Class, classifier.Classify(os.ErrDeadlineExceeded).Class)
	// Output: permanent timeout
}

func ExamplePermanentIf() {
	errSoldOut := errors.New("sold out")

	policy := retry.Policy{Classifier: retry.PermanentIf(errSoldOut)}

	attempts := 0
	err := retry.Do(context.Background(), policy, func(context.Context) error {
		attempts++
		return fmt.Errorf("order 7: %w", errSoldOut)
	})
	fmt.Println(attempts, err)
	// Output: 1 order 7: sold out
}

// A call ends at once if the next wait would outlast the deadline.
func ExamplePolicy_deadline() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	start := time.Now()
	policy := retry.Policy{Backoff: retry.Constant(time.Hour)}
	err := retry.Do(ctx, policy, func(context.Context) error { return io.ErrUnexpectedEOF })
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), time.Since(start) < time.Minute)
	// Output:
	// gave up after 1 attempt (wait would outlast the context: context deadline exceeded, next wait 1h0m0s): unexpected EOF
	// true true
}

func ExamplePolicy_With() {
	log := retry.Hooks{
		OnRetry: func(_ context.Context, failed retry.Attempt, wait time.Duration) {
			fmt.Printf("attempt %d: %v, waiting %v\n", failed.Number, failed.Err, wait)
		},
		OnGiveUp: func(_ context.Context, e *retry.Error) { fmt.Println(e) },
	}
	retries := 0
	count := retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { retries++ }}
	policy := retry.Policy{Backoff: retry.Constant(time.Second), Clock: &retrytest.Clock{}}.With(log).With(count)
	_ = retry.Do(context.Background(), policy, func(context.Context) error { return io.ErrUnexpectedEOF })
	fmt.Println(retries, "retries")
	// Output:
	// attempt 1: unexpected EOF, waiting 1s
	// attempt 2: unexpected EOF, waiting 1s
	// gave up after 3 attempts (all attempts used): unexpected EOF
	// 2 retries
}

type attemptKey struct{}

// OnAttempt can derive a context for each attempt, here one that carries the attempt's
// number.
func ExamplePolicy_onAttempt() {
	policy := retry.Policy{
		Clock: &retrytest.Clock{},
		Hooks: retry.Hooks{OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			return context.WithValue(ctx, attemptKey{}, a.Number), func(a retry.Attempt) { fmt.Println("ended:", a.Number, a.Err) }
		}},
	}
	_ = retry.Do(context.Background(), policy, func(ctx context.Context) error {
		if ctx.Value(attemptKey{}) == 1 {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	// Output:
	// ended: 1 unexpected EOF
	// ended: 2 <nil>
}

func ExamplePolicy_Delays() {
	policy := retry.Policy{
		Backoff:     retry.FullJitter{Base: 100 * time.Millisecond, Cap: time.Second},
		MaxAttempts: 6,
		Rand:        retrytest.Fixed(0.5),
	}
	for delay := range policy.Delays() {
		fmt.Print(delay, " ")
	}
	// Output: 50ms 100ms 200ms 400ms 500ms
}

func ExamplePolicy_Validate() {
	policy := retry.Policy{
		MaxAttempts: -1,
		Backoff:     retry.FullJitter{Base: time.Minute, Cap: time.Second, Factor: 0.5},
	}
	fmt.Println(policy.Validate())
	// Output: invalid retry policy: MaxAttempts is negative (-1); Backoff: FullJitter: Base 1m0s is above Cap 1s; Backoff: FullJitter: Factor 0.5 is not a number of at least 1
}

func ExampleSharedBudget() {
	// One budget for each server, shared by all calls to it.
	budget := &retry.SharedBudget{}
	policy := retry.Policy{Budget: budget, Clock: &retrytest.Clock{}, Rand: retrytest.Fixed(0.5)}
	down := func(context.Context) error { return io.ErrUnexpectedEOF }
	for range 3 {
		fmt.Println(retry.Do(context.Background(), policy, down), budget.Balance())
	}
	// Output:
	// gave up after 3 attempts (all attempts used): unexpected EOF 3
	// gave up after 3 attempts (all attempts used): unexpected EOF 1
	// gave up after 2 attempts (client-side retry budget used up, next wait 50ms): unexpected EOF 0
}

func ExampleSharedBudget_Part() {
	budget := &retry.SharedBudget{}
	search := retry.Policy{Budget: budget.Part("search"), Clock: &retrytest.Clock{}}
	order := retry.Policy{Budget: budget.Part("order"), Clock: &retrytest.Clock{}}
	for range 100 { // the search is broken
		_ = retry.Do(context.Background(), search, func(context.Context) error { return io.ErrUnexpectedEOF })
	}
	fmt.Println(retry.Do(context.Background(), order, retrytest.Fail(1, io.ErrUnexpectedEOF).Run))
	// Output: <nil>
}

// turns is a Limiter that allows one attempt at a time.
type turns chan struct{}

func (t turns) Wait(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turns) Observe(retry.Attempt) { <-t }

func ExampleLimiter() {
	policy := retry.Policy{Limiter: make(turns, 1), Clock: &retrytest.Clock{}}
	op := retrytest.Fail(2, io.ErrUnexpectedEOF)
	fmt.Println(retry.Do(context.Background(), policy, op.Run), op.Calls())
	// Output: <nil> 3
}

func ExampleCapped() {
	// Delays capped after the jitter pile up at the cap.
	rule := retry.Capped{Of: retry.FullJitter{Base: time.Second}, Cap: 3 * time.Second}
	for number := 1; number <= 5; number++ {
		fmt.Print(rule.Delay(retry.Attempt{Number: number}, 0.5), " ")
	}
	// Output: 500ms 1s 2s 3s 3s
}

func ExampleJittered() {
	rule := retry.Jittered{Of: retry.Fibonacci{Base: time.Second}, Share: 1} // full jitter over Fibonacci growth
	for number := 1; number <= 5; number++ {
		fmt.Print(rule.Delay(retry.Attempt{Number: number}, 0.5), " ")
	}
	// Output: 500ms 500ms 1s 1.5s 2.5s
}

func ExampleSpread() {
	rule := retry.Spread{Of: retry.Constant(10 * time.Second), Fraction: 0.1}
	fmt.Println(rule.Delay(retry.Attempt{Number: 1}, 0), rule.Delay(retry.Attempt{Number: 1}, 0.75))
	// Output: 9s 10.5s
}

func ExampleDecorrelatedJitter() {
	rule := retry.DecorrelatedJitter{Base: time.Second, Cap: 10 * time.Second, Redraw: true}
	policy := retry.Policy{Backoff: rule, MaxAttempts: 5, Rand: retrytest.Fixed(0.5)}
	for delay := range policy.Delays() {
		fmt.Print(delay, " ")
	}
	// Output: 2s 3.5s 5.5s 5.5s
}

// everySecondTime is a custom Backoff, tested with retrytest.TestBackoff.
type everySecondTime struct{ retry.Backoff }

func (b everySecondTime) Delay(a retry.Attempt, u float64) time.Duration {
	if a.Number%2 == 1 {
		return 0
	}
	return b.Backoff.Delay(a, u)
}

func Example_customBackoff() {
	clock := &retrytest.Clock{}
	policy := retry.Policy{Backoff: everySecondTime{retry.Constant(time.Second)}, MaxAttempts: 5, Clock: clock}
	_ = retry.Do(context.Background(), policy, func(context.Context) error { return io.ErrUnexpectedEOF })
	fmt.Println(clock.Waits())
	// Output: [0s 1s 0s 1s]
}

// The polling loop of the AWS General Reference ("Error retries and exponential
// backoff in AWS") waits 0, then 2ⁿ · 100 ms up to a maximum, until the status is
// neither "not ready" nor "throttled".
func Example_polling() {
	var (
		errNotReady  = errors.New("not ready")
		errThrottled = errors.New("throttled")
	)
	clock := &retrytest.Clock{}
	polling := retry.Policy{
		// The first poll is immediate; the second follows after 2¹ · 100 ms.
		Backoff:     retry.Exponential{Base: 200 * time.Millisecond, Cap: time.Second},
		MaxAttempts: 1 + 10, // the first poll plus MAX_RETRIES
		Clock:       clock,
		Classifier: retry.ClassifierFunc(func(err error) retry.Verdict {
			switch err {
			case errNotReady:
				return retry.Verdict{Class: retry.ClassTransient}
			case errThrottled:
				return retry.Verdict{Class: retry.ClassThrottled}
			}
			return retry.Verdict{Class: retry.ClassPermanent}
		}),
	}
	status := retrytest.Script(errNotReady, errNotReady, errThrottled, errNotReady, nil)
	err := retry.Do(context.Background(), polling, status.Run)
	fmt.Println(err, status.Calls(), clock.Waits())

	failed := retrytest.Script(errNotReady, errors.New("job failed"))
	fmt.Println(retry.Do(context.Background(), polling, failed.Run), failed.Calls())
	// Output:
	// <nil> 5 [200ms 400ms 800ms 1s]
	// job failed 2
}

// A stream that breaks off is opened again where it ended. Its reader is called for one event
// at a time, so it cannot run within Do.
func ExampleCall() {
	clock := &retrytest.Clock{}
	policy := retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: 4, Clock: clock}
	events := retrytest.Script(nil, io.ErrUnexpectedEOF, nil, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF, retry.Permanent(io.EOF))
	ctx := context.Background()

	call := policy.Start()
	for {
		err := events.Run(ctx)
		if err == nil {
			call.Succeeded()
			fmt.Println("an event")
			continue
		}
		wait, reason := call.Failed(ctx, err)
		if reason == nil {
			fmt.Println("open again after", wait)
			reason = clock.Sleep(ctx, wait)
		}
		if reason != nil {
			fmt.Println("the end:", call.GiveUp(ctx, reason))
			return
		}
	}
	// Output:
	// an event
	// open again after 1s
	// an event
	// open again after 1s
	// open again after 2s
	// the end: EOF
}

// A queue waits, and the policy decides. A message carries what the policy needs: how often it
// has failed, how long it has waited, and since when.
func ExamplePolicy_Resume() {
	type message struct {
		text     string
		failures int
		waited   time.Duration
		first    time.Time
	}
	policy := retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: 3, MaxElapsed: time.Hour, Budget: &awspreset.TokenBudget{}}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	handle := func(text string) error {
		if text == "poison" {
			return retry.Permanent(errors.New("cannot be parsed"))
		}
		return io.ErrUnexpectedEOF
	}
	for _, m := range []message{
		{text: "new", first: now},
		{text: "old", first: now.Add(-2 * time.Second), failures: 1, waited: time.Second},
		{text: "exhausted", first: now.Add(-5 * time.Second), failures: 2, waited: 2 * time.Second},
		{text: "poison", first: now},
	} {
		err := handle(m.text)
		call := policy.Resume(m.failures, m.waited, now.Sub(m.first))
		wait, reason := call.Failed(context.Background(), err)
		if reason != nil {
			fmt.Printf("%s: %v, dead-lettered: %v\n", m.text, err, reason)
			continue
		}
		fmt.Printf("%s: due again at %s\n", m.text, now.Add(wait).Format(time.TimeOnly))
	}
	// Output:
	// new: due again at 12:00:01
	// old: due again at 12:00:02
	// exhausted: unexpected EOF, dead-lettered: all attempts used
	// poison: cannot be parsed, dead-lettered: permanent failure
}

// This client reconnects forever. After a connection has worked for a minute, the delays
// start over.
func ExampleProgress() {
	clock := &retrytest.Clock{}
	lived := []time.Duration{0, 0, 2 * time.Hour, 0, 0} // how long each connection works
	policy := retry.Policy{
		Backoff:     retry.FullJitter{Base: time.Second, Cap: time.Minute},
		MaxAttempts: retry.Unlimited,
		Clock:       clock,
		Rand:        retrytest.Fixed(0.5),
	}
	_ = retry.Do(context.Background(), policy, func(context.Context) error {
		if len(lived) == 0 {
			return nil // the program ends
		}
		start := clock.Now()
		clock.Advance(lived[0]) // connect and serve until the connection is lost
		lived = lived[1:]
		if clock.Now().Sub(start) > time.Minute {
			return retry.Progress(io.ErrUnexpectedEOF)
		}
		return io.ErrUnexpectedEOF
	})
	fmt.Println(clock.Waits())
	// Output: [500ms 1s 500ms 1s 2s]
}

func ExampleOnlyIf() {
	busy := errors.New("busy")
	policy := retry.Policy{Backoff: retry.NoDelay{}, Classifier: retry.OnlyIf(func(err error) bool { return errors.Is(err, busy) })}
	for _, err := range []error{busy, io.ErrUnexpectedEOF} {
		calls := 0
		_ = retry.Do(context.Background(), policy, func(context.Context) error { calls++; return err })
		fmt.Println(err, calls)
	}
	// Output:
	// busy 3
	// unexpected EOF 1
}

type statusError struct{ StatusCode int }

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.StatusCode) }

func ExampleExplain() {
	policy := retry.Policy{MaxAttempts: 5}
	err := fmt.Errorf("load the page: %w", &statusError{404})
	fmt.Print(retry.Explain(policy, err))
	// Output:
	// error:   load the page: status 404
	// retried: no, permanent failure
	// class:   permanent, because of the status or code of the response
	// read in: *retry_test.statusError, with code 404
	// change:  Policy.Classifier = retry.Codes{Retry: []string{"404"}}
	// policy:  backoff=standard attempts=5
}
