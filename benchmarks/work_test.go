package main

import (
	"context"
	"errors"
	"time"
)

// plan describes a call. Every adapter turns it into an equivalent policy of
// its library.
type plan struct {
	attempts int
	wait     time.Duration // before every retry, without jitter
	usual    bool          // instead of wait: realistic waits that double from 50 ms to 20 s, with jitter
	hook     func()        // called once for each retry; nil: none
	budget   bool          // with a shared retry budget that is never used up
}

// usual is a plan like those of real programs.
var usual = plan{attempts: 3, usual: true}

// The waits of a usual plan.
const (
	usualBase = 50 * time.Millisecond
	usualCap  = 20 * time.Second
)

// plenty is the size of a budget that no benchmark uses up.
const plenty = 1_000_000_000

type (
	// call is one call of a library.
	call func() error
	// policy binds an operation to a policy that has been built.
	policy func(*operation) call
	// valueCall is one call that returns a value.
	valueCall func() (int, error)
)

// A library is one adapter. Features that a library does not have are nil or
// false, and their cells stay empty.
type library struct {
	name string

	// build makes the policy once, as far as the library allows concurrent calls
	// to share it. The rest is made in each call.
	build func(context.Context, plan) policy
	// fresh makes everything in each call.
	fresh func(context.Context, plan) policy
	// value is like build, but for an operation that returns a value.
	value func(context.Context, plan) func(*operation) valueCall

	hooks   bool
	budgets bool

	// delays are the strategies. Each function starts a stream of delays: those of
	// consecutive calls that wait five times each.
	delays map[string]func() func() time.Duration
}

// libraries are the columns. The first is this library.
var libraries = []library{ours, loop, cenkalti7, cenkalti5, avast, sethvargo, failsafeGo, awsSDK, kubernetes}

// waitsPerCall is the number of delays after which the state of a strategy is
// reset.
const waitsPerCall = 5

// Names of the strategies that more than one library has.
const (
	constant     = "constant"
	exponential  = "exponential"
	fullJitter   = "full-jitter"
	partJitter   = "part-jitter" // exponential and a random part of it, or added to it
	equalJitter  = "equal-jitter"
	decorrelated = "decorrelated"
	linear       = "linear"
	fibonacci    = "fibonacci"
	schedule     = "schedule"
)

var errFlaky = errors.New("flaky")

// operation fails a number of times and then succeeds, repeatedly. Each adapter
// wraps try in a function with the signature that its library calls, so that no
// library pays for a conversion.
type operation struct {
	failures int // before each success
	always   bool
	calls    int
	left     int      // failures until the next success
	_        [96]byte // keeps the operations of two cores in cache lines of their own
}

func failing(n int) *operation { return &operation{failures: n, left: n} }

// hopeless returns an operation that always fails. It keeps no count and may be
// shared.
func hopeless() *operation { return &operation{always: true} }

func (o *operation) try() error {
	if o.always {
		return errFlaky
	}
	o.calls++
	if o.left == 0 {
		o.left = o.failures
		return nil
	}
	o.left--
	return errFlaky
}

// cycle calls next, and begin before each waitsPerCall-th call of it.
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
