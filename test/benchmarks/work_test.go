package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A plan describes calls. Every adapter translates it into its library's policy.
type plan struct {
	attempts int
	wait     time.Duration // before every retry, without jitter
	usual    bool          // instead of wait: 50 ms, doubling up to 20 s, with jitter
	hook     func()        // called for each retry; may be nil
	budget   bool          // with a shared retry budget that is never used up
}

var usual = plan{attempts: 3, usual: true}

const (
	usualBase = 50 * time.Millisecond
	usualCap  = 20 * time.Second
)

// plenty is the size of a budget that no benchmark uses up.
const plenty = 1_000_000_000

type (
	call func() error
	// policy binds an operation to a policy that is already built.
	policy    func(*operation) call
	valueCall func() (int, error)
)

// A library is one adapter. Missing features are nil or false; their cells stay empty.
type library struct {
	name string

	// build creates what concurrent calls may share, and each call creates the rest. With
	// the function fresh, each call creates everything.
	build func(context.Context, plan) policy
	fresh func(context.Context, plan) policy
	// value is like build, but for an operation that returns a value.
	value func(context.Context, plan) func(*operation) valueCall

	hooks   bool
	budgets bool

	// delays contains the strategies. Each function starts a stream with the delays of
	// consecutive calls that wait waitsPerCall times each.
	delays map[string]func() func() time.Duration
}

// libraries lists the columns of the table. The first is this library.
var libraries = []library{ours, loop, cenkalti7, cenkalti5, avast, sethvargo, failsafeGo, awsSDK, kubernetes}

// waitsPerCall is the number of delays after which a strategy is reset.
const waitsPerCall = 5

const (
	constant     = "constant"
	exponential  = "exponential"
	fullJitter   = "full-jitter"
	partJitter   = "part-jitter" // exponential, partly random
	equalJitter  = "equal-jitter"
	decorrelated = "decorrelated"
	linear       = "linear"
	fibonacci    = "fibonacci"
	schedule     = "schedule"
)

var errFlaky = errors.New("flaky")

// operation fails a number of times, succeeds once, and starts over. Each adapter wraps
// the method try in a function with the signature that its library expects, so no library
// pays for a conversion.
type operation struct {
	failures int          // before each success
	always   func() error // nil: after that many failures, it succeeds
	calls    int
	left     int      // failures until the next success
	_        [96]byte // keeps operations of different cores in separate cache lines
}

func failing(n int) *operation { return &operation{failures: n, left: n} }

// hopeless returns an operation that always fails with the result of f and may be shared.
func hopeless(f func() error) *operation { return &operation{always: f} }

func flaky() error { return errFlaky }

func wrapped() error { return fmt.Errorf("get item: %w", errFlaky) }

func (o *operation) try() error {
	if o.always != nil {
		return o.always()
	}
	o.calls++
	if o.left == 0 {
		o.left = o.failures
		return nil
	}
	o.left--
	return errFlaky
}

// cycle returns a function that returns the delays from the function next. Before the first
// of every waitsPerCall delays, it calls the function begin.
func cycle(begin func(), next func() time.Duration) func() time.Duration {
	n := 0
	return func() time.Duration {
		if n == 0 {
			begin()
			n = waitsPerCall
		}
		n--
		return next()
	}
}
