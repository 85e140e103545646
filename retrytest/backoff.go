package retrytest

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/gobackoff/retry"
)

// TestBackoff checks that b keeps the contract of retry.Backoff: it is pure,
// defined for every argument, never negative, does not fall when the random
// number rises, and can be shared. Run it with -race to find data races too.
//
//	func TestMyBackoff(t *testing.T) {
//		retrytest.TestBackoff(t, MyBackoff{Base: time.Second})
//	}
func TestBackoff(t testing.TB, b retry.Backoff) {
	t.Helper()
	for _, c := range backoffChecks {
		if err := c.check(b); err != nil {
			t.Errorf("%s: %v\n\t%s", c.name, err, c.explanation)
		}
	}
}

// backoffChecks are the clauses of the contract, each with what is wrong with
// an implementation that fails it.
var backoffChecks = []struct {
	name        string
	explanation string
	check       func(retry.Backoff) error
}{
	{
		"total",
		"Delay must return for every argument: the loop passes on what hooks, other libraries and long-running calls give it.",
		func(b retry.Backoff) error {
			return forAll(b, func(retry.Attempt, float64, time.Duration) error { return nil })
		},
	},
	{
		"not negative",
		"A negative delay is an overflow or a special value. The loop takes it for 0, and a delay of 0 is a hot loop.",
		func(b retry.Backoff) error {
			return forAll(b, func(a retry.Attempt, u float64, d time.Duration) error {
				if d < 0 {
					return fmt.Errorf("%s = %v", show(a, u), d)
				}
				return nil
			})
		},
	},
	{
		"pure",
		"The same arguments must give the same delay, whatever was asked before: keep no state, draw no random numbers, read no clock; use u and the Attempt.",
		func(b retry.Backoff) error {
			var first []time.Duration
			if err := forAll(b, func(_ retry.Attempt, _ float64, d time.Duration) error {
				first = append(first, d)
				return nil
			}); err != nil {
				return nil // the check "total" says so
			}
			i := len(first)
			var err error
			for _, c := range backwards(arguments()) {
				i--
				if d := b.Delay(c.a, c.u); d != first[i] && err == nil {
					err = fmt.Errorf("%s = %v, and later %v", show(c.a, c.u), first[i], d)
				}
			}
			return err
		},
	},
	{
		"rising in u",
		"A larger u must not give a smaller delay: Delay(a, 0) is taken for the smallest delay and Delay(a, 1-ε) for the largest.",
		func(b retry.Backoff) error {
			var last struct {
				a retry.Attempt
				u float64
				d time.Duration
			}
			last.u = math.Inf(1)
			return forAll(b, func(a retry.Attempt, u float64, d time.Duration) error {
				if u > last.u && d < last.d {
					return fmt.Errorf("%s = %v, %s = %v", show(last.a, last.u), last.d, show(a, u), d)
				}
				last.a, last.u, last.d = a, u, d
				return nil
			})
		},
	},
	{
		"shareable",
		"One value serves many goroutines at once, so that a policy can be a package variable.",
		func(b retry.Backoff) error {
			cases := arguments()
			want := make([]time.Duration, len(cases))
			if err := forAll(b, func(retry.Attempt, float64, time.Duration) error { return nil }); err != nil {
				return nil // the check "total" says so
			}
			for i, c := range cases {
				want[i] = b.Delay(c.a, c.u)
			}
			var wg sync.WaitGroup
			errs := make([]error, 8)
			for g := range errs {
				wg.Go(func() {
					for i, c := range cases {
						if d := b.Delay(c.a, c.u); d != want[i] && errs[g] == nil {
							errs[g] = fmt.Errorf("%s = %v alone and %v beside others", show(c.a, c.u), want[i], d)
						}
					}
				})
			}
			wg.Wait()
			for _, err := range errs {
				if err != nil {
					return err
				}
			}
			return nil
		},
	},
}

type argument struct {
	a retry.Attempt
	u float64
}

// arguments are usual and extreme ones; those that differ in u only stand
// together, u rising.
func arguments() []argument {
	var list []argument
	for _, number := range []int{1, 2, 3, 4, 10, 31, 32, 63, 64, 65, 1024, math.MaxInt32, math.MaxInt, 0, -1, math.MinInt} {
		for _, delay := range []time.Duration{0, 1, time.Millisecond, time.Second, 24 * time.Hour, math.MaxInt64} {
			for _, class := range []retry.Class{retry.ClassTransient, retry.ClassTimeout, retry.ClassThrottled, retry.ClassUnknown} {
				a := retry.Attempt{Number: number, Delay: delay, Class: class}
				if class != retry.ClassUnknown {
					a.Err = errors.New("failure")
				}
				for _, u := range []float64{0, math.SmallestNonzeroFloat64, 0.25, 0.5, 0.75, math.Nextafter(1, 0)} {
					list = append(list, argument{a, u})
				}
			}
		}
	}
	return list
}

func backwards(list []argument) []argument {
	reversed := make([]argument, len(list))
	for i, c := range list {
		reversed[len(list)-1-i] = c
	}
	return reversed
}

// forAll calls check with every argument and its delay until one fails. A
// panic of b is an error.
func forAll(b retry.Backoff, check func(a retry.Attempt, u float64, d time.Duration) error) (err error) {
	var at argument
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s panics: %v", show(at.a, at.u), v)
		}
	}()
	for _, at = range arguments() {
		if err := check(at.a, at.u, b.Delay(at.a, at.u)); err != nil {
			return err
		}
	}
	return nil
}

func show(a retry.Attempt, u float64) string {
	return fmt.Sprintf("Delay({Number: %d, Delay: %v, Class: %v}, %v)", a.Number, a.Delay, a.Class, u)
}
