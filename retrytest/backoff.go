package retrytest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gobackoff/retry"
)

// TestBackoff checks that b satisfies the contract of retry.Backoff: it is pure, defined for every
// argument and never negative, returns its smallest and largest delay for the smallest and largest
// u, and can be shared. Run it with -race to find data races, too.
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

var backoffChecks = []struct {
	name        string
	explanation string
	check       func(retry.Backoff) error
}{
	{
		"total",
		"Delay must return for every argument: hooks, other libraries and long-running calls can produce any arguments.",
		func(b retry.Backoff) error {
			return forAll(b, arguments(), func(argument, time.Duration) error { return nil })
		},
	},
	{
		"not negative",
		"A negative delay ends the call: Do makes no further retry. Most result from an overflow. A rule that ends calls on purpose fails this check.",
		func(b retry.Backoff) error {
			return forAll(b, arguments(), func(c argument, d time.Duration) error {
				if d < 0 {
					return fmt.Errorf("%v = %v", c, d)
				}
				return nil
			})
		},
	},
	{
		"pure",
		"The same arguments must give the same delay, regardless of earlier calls: keep no state, draw no random numbers, read no clock; use u and the Attempt.",
		func(b retry.Backoff) error {
			list := arguments()
			first := make([]time.Duration, 0, len(list))
			if forAll(b, list, func(_ argument, d time.Duration) error {
				first = append(first, d)
				return nil
			}) != nil {
				return nil // reported by "total"
			}
			slices.Reverse(list)
			slices.Reverse(first)
			i := -1
			return forAll(b, list, func(c argument, d time.Duration) error {
				if i++; d != first[i] {
					return fmt.Errorf("%v = %v, and later %v", c, first[i], d)
				}
				return nil
			})
		},
	},
	{
		"ends",
		"u = 0 must give the smallest delay and u = 1-ε the largest: the bounds of a policy are computed from them.",
		func(b retry.Backoff) error {
			return forAll(b, arguments(), func(c argument, d time.Duration) error {
				low, high := argument{c.a, 0}, argument{c.a, almost1}
				if least := b.Delay(low.a, low.u); d < least {
					return fmt.Errorf("%v = %v, %v = %v", low, least, c, d)
				}
				if most := b.Delay(high.a, high.u); d > most {
					return fmt.Errorf("%v = %v, %v = %v", c, d, high, most)
				}
				return nil
			})
		},
	},
	{
		"shareable",
		"Many goroutines must be able to share one value, so that a policy can be a package variable.",
		func(b retry.Backoff) error {
			list := unseen()
			got := make([][]time.Duration, 8)
			errs := make([]error, len(got))
			var wg sync.WaitGroup
			for g := range got {
				wg.Go(func() {
					errs[g] = forAll(b, list, func(_ argument, d time.Duration) error {
						got[g] = append(got[g], d)
						return nil
					})
				})
			}
			wg.Wait()
			if cmp.Or(errs...) != nil {
				return nil // reported by "total"
			}
			i := -1
			return forAll(b, list, func(c argument, d time.Duration) error {
				i++
				for _, delays := range got {
					if delays[i] != d {
						return fmt.Errorf("%v = %v alone and %v concurrently", c, d, delays[i])
					}
				}
				return nil
			})
		},
	},
}

const almost1 = 1 - 0x1p-53

type argument struct {
	a retry.Attempt
	u float64
}

func (c argument) String() string {
	hint := ""
	if c.a.Hint > 0 {
		hint = fmt.Sprintf(", Hint: %v", c.a.Hint)
	}
	return fmt.Sprintf("Delay({Number: %d, Waited: %v, Class: %v%s}, %v)", c.a.Number, c.a.Waited, c.a.Class, hint, c.u)
}

// Extreme arguments. Some waits overflow if they are multiplied by 1.5, 2, 3 or 4.
var (
	numbers = []int{1, 2, 3, 4, 10, 31, 32, 63, 64, 65, 1024, math.MaxInt32, math.MaxInt, 0, -1, math.MinInt}
	waits   = []time.Duration{0, 1, time.Millisecond, time.Second, 24 * time.Hour, math.MaxInt64/4 + 1, math.MaxInt64 / 3, math.MaxInt64/3 + 1, math.MaxInt64/2 + 1, math.MaxInt64 / 3 * 2, math.MaxInt64}
	classes = []retry.Class{retry.ClassTransient, retry.ClassTimeout, retry.ClassThrottled, retry.ClassUnknown}
	hints   = []time.Duration{1, time.Second, 24 * time.Hour, math.MaxInt64/2 + 1, math.MaxInt64}
	randoms = []float64{0, math.SmallestNonzeroFloat64, 0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 0.9, almost1}
)

func arguments() []argument {
	var list []argument
	add := func(a retry.Attempt, us []float64) {
		if a.Class != retry.ClassUnknown {
			a.Err = errors.New("failure")
		}
		for _, u := range us {
			list = append(list, argument{a, u})
		}
	}
	for _, number := range numbers {
		for _, wait := range waits {
			for _, class := range classes {
				add(retry.Attempt{Number: number, Waited: wait, Verdict: retry.Verdict{Class: class}}, randoms)
			}
		}
		for _, hint := range hints {
			for _, wait := range []time.Duration{0, time.Second} {
				v := retry.Verdict{Class: retry.ClassThrottled, Hint: hint}
				add(retry.Attempt{Number: number, Waited: wait, Verdict: v}, []float64{0, 0.5, almost1})
			}
		}
	}
	// A rule may be wrong in a small range of u only.
	var fine []float64
	for i := range 1000 {
		fine = append(fine, (float64(i)+0.5)/1000)
	}
	for _, number := range []int{1, 4} {
		add(retry.Attempt{Number: number, Waited: time.Second, Verdict: retry.Verdict{Class: retry.ClassTransient}}, fine)
	}
	return list
}

// unseen returns arguments that no other check uses. A rule that remembers its delays in a map
// has to write to it, and the Go runtime ends a program whose goroutines do so at the same time.
func unseen() []argument {
	list := arguments()
	for i := range list {
		list[i].u = 0.001 + 0.99*list[i].u
	}
	return list
}

// forAll calls check with every argument and its delay until one fails or b panics.
func forAll(b retry.Backoff, list []argument, check func(argument, time.Duration) error) (err error) {
	var c argument
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v panics: %v", c, v)
		}
	}()
	for _, c = range list {
		if err := check(c, b.Delay(c.a, c.u)); err != nil {
			return err
		}
	}
	return nil
}
