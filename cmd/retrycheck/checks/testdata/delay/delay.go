package delay

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/ratelimit"
	"golang.org/x/time/rate"
)

type floor struct{ min, max time.Duration }

func (f floor) Delay(_ retry.Attempt, u float64) time.Duration {
	return f.min + time.Duration(u)*(f.max-f.min) // want `this is always 0, because the conversion drops the fraction of a number below 1: convert the product, as in time.Duration\(u \* float64\(d\)\)`
}

const base, limit = 100 * time.Millisecond, 30 * time.Second

func doubling(a retry.Attempt, u float64) time.Duration {
	d := base << a.Number // want `this overflows after some 30 retries, and a negative delay is below every limit`
	if d > limit {
		d = limit
	}
	return d/2 + time.Duration(u*float64(d/2))
}

type quotaError struct {
	Resets time.Time
	Sent   time.Time
}

func (e *quotaError) Error() string { return "quota" }

func hints(err error, quota *quotaError) error {
	return retry.After(err, time.Since(quota.Resets)) // want `this is negative as long as quota.Resets is to come, so nothing waits: use time.Until\(quota.Resets\)`
}

var errTooFast = errors.New("more than ten in this second")

type perSecond struct{ count, max int }

func (l *perSecond) Wait(context.Context) error {
	if l.count > l.max {
		return errTooFast // want `an error of a Limiter ends the call: wait until the attempt may start, or until ctx is done`
	}
	return nil
}

var long = retry.Policy{MaxAttempts: retry.Unlimited, Backoff: retry.BackoffFunc(doubling)}

type fractions struct{ floor }

func (f fractions) Delay(a retry.Attempt, u float64) time.Duration {
	half := u / 2
	switch a.Class {
	case retry.ClassTimeout:
		return time.Duration(half+0.5) * f.max // want `this is always 0`
	case retry.ClassThrottled:
		return time.Duration(1-u) * f.max // want `this is always 0`
	case retry.ClassPermanent:
		return f.max * (3 / 2) // want `3 / 2 is a division of integers and gives 1: multiply the Duration first`
	case retry.ClassUnknown:
		return f.max*3/2 + time.Duration(u*1e9) + time.Duration(u*float64(f.max)) + time.Duration(half*float64(time.Second))
	}
	return f.max * time.Duration(1/2) // want `1 / 2 is a division of integers and gives 0`
}

func byHand(jitterPercent int, share float64, wait, hour time.Duration) (all []time.Duration) {
	all = append(all, wait+time.Duration(rand.Float64())*wait)       // want `this is always 0`
	all = append(all, wait*time.Duration(jitterPercent/100))         // want `jitterPercent / 100 is a division of integers and gives 0 below 100`
	all = append(all, wait*time.Duration(jitterPercent)/100)         // multiplies first
	all = append(all, time.Duration(rand.Float64()*float64(wait)))   // converts the product
	all = append(all, time.Duration(share*10)*wait)                  // of a number that is not known
	all = append(all, time.Duration(10*rand.Float64())*time.Second)  // whole seconds
	return append(all, hour*24/5, time.Second*3/2, 10*time.Second/3) // whole numbers
}

type shifts struct{}

func (shifts) Delay(a retry.Attempt, u float64) time.Duration {
	n := a.Number - 1
	switch {
	case u < 0.1:
		return time.Duration(1<<uint(n)) * time.Second // the switch may bound n
	}
	return 0
}

type powers struct{}

func (powers) Delay(a retry.Attempt, u float64) time.Duration {
	n := a.Number - 1
	d := time.Duration(float64(base) * math.Pow(2, float64(n))) // want `this overflows after some 30 retries`
	if d > limit {
		return limit
	}
	return d + base*(1<<n) // want `this overflows`
}

type powersRight struct{}

func (powersRight) Delay(a retry.Attempt, u float64) time.Duration {
	d := float64(base) * math.Pow(2, float64(a.Number))
	if d > float64(limit) {
		return limit
	}
	return time.Duration(u * d)
}

type powersMin struct{}

func (powersMin) Delay(a retry.Attempt, u float64) time.Duration {
	return time.Duration(math.Min(float64(limit), float64(base)*math.Pow(2, float64(a.Number))))
}

type powersShrink struct{}

func (powersShrink) Delay(a retry.Attempt, u float64) time.Duration {
	return time.Duration(float64(limit) * math.Pow(0.5, float64(a.Number)))
}

type shiftsMin struct{}

func (shiftsMin) Delay(a retry.Attempt, u float64) time.Duration {
	return min(limit, base<<min(a.Number, 20))
}

type shiftsIf struct{}

func (shiftsIf) Delay(a retry.Attempt, u float64) time.Duration {
	if a.Number > 10 {
		return limit
	}
	return base << (a.Number - 1)
}

type shiftsAsk struct{}

func (shiftsAsk) Delay(a retry.Attempt, u float64) time.Duration {
	d := base << a.Number
	if d <= 0 || d > limit {
		d = limit
	}
	return d
}

type shiftsBefore struct{}

func (shiftsBefore) Delay(a retry.Attempt, u float64) time.Duration {
	if base > limit>>a.Number {
		return limit
	}
	return base << a.Number
}

type shiftsLow struct{}

func (shiftsLow) Delay(a retry.Attempt, u float64) time.Duration {
	return base << (a.Number - 2) // want `this panics at the first retry, because a.Number - 2 is negative for the attempt with number 1`
}

func endless(ctx context.Context, call func(context.Context) error) {
	for i := 0; ; i++ {
		if call(ctx) == nil {
			return
		}
		time.Sleep(min(limit, base<<i)) // want `this overflows after some 30 retries`
	}
}

func bounded(ctx context.Context, call func(context.Context) error) error {
	for i := 0; ; i++ {
		err := call(ctx)
		if err == nil || i == 8 {
			return err
		}
		time.Sleep(base << i)
	}
}

func counted(ctx context.Context, call func(context.Context) error) (err error) {
	for i := range 5 {
		err = call(ctx)
		if err == nil {
			return nil
		}
		time.Sleep(base << i)
	}
	return err
}

func panics(call func() error) {
	for i := 0; i < 5; i++ {
		if call() == nil {
			return
		}
		time.Sleep(rand.N(time.Duration(i) * time.Second)) // want `time.Duration\(i\) \* time.Second is 0 in the first round, for which rand.N panics: add 1`
	}
	for i := 0; i < 5; i++ {
		if i > 0 {
			time.Sleep(rand.N(time.Duration(i) * time.Second))
		}
		time.Sleep(rand.N(time.Duration(i+1) * time.Second))
		time.Sleep(rand.N(time.Second << i))
	}
	for i := 1; i < 5; i++ {
		time.Sleep(rand.N(time.Duration(i) * time.Second))
	}
}

type jittered struct{ floor }

func (j jittered) Delay(a retry.Attempt, _ float64) time.Duration { // want `the delays of jittered have no jitter, because they do not depend on the random number`
	return j.min * time.Duration(a.Number)
}

type unjittered struct{ floor }

func (j unjittered) Delay(a retry.Attempt, _ float64) time.Duration { return j.min }

type withJitter struct{ of retry.Backoff }

func (j withJitter) Delay(a retry.Attempt, u float64) time.Duration { return j.of.Delay(a, u) }

func signs(ctx context.Context, p retry.Policy, err error, quota *quotaError, resetAt, deadline time.Time) {
	start, now := time.Now(), time.Now()
	_ = retry.After(err, time.Now().Sub(quota.Resets)) // want `this is negative`
	_ = retry.After(err, now.Sub(resetAt))             // want `this is negative`
	_ = retry.After(err, max(0, time.Since(resetAt)))  // want `this is negative`
	_ = retry.After(err, -time.Until(resetAt))         // want `this is negative`
	wait := time.Since(quota.Resets)
	_ = retry.After(err, wait)                                      // want `this is negative`
	_ = retry.Verdict{Hint: time.Since(resetAt)}                    // want `this is negative`
	_ = ratelimit.State{Reset: now.Sub(resetAt)}                    // want `this is negative`
	_ = admit.Refused(time.Since(resetAt))                          // want `this is negative`
	short, cancel := context.WithTimeout(ctx, time.Since(deadline)) // want `this is negative`
	defer cancel()
	time.Sleep(time.Since(resetAt))                                            // want `this is negative`
	_ = retry.After(err, time.Until(start))                                    // want `this is negative, because start has passed, so nothing waits`
	_, err = p.Next(retry.Attempt{Number: 1, Err: err}, time.Until(start))     // want `this is negative, so MaxElapsed is never reached: use time.Since\(start\)`
	_, err = p.Next(retry.Attempt{Number: 1, Err: err}, start.Sub(time.Now())) // want `this is negative, so MaxElapsed`
	_, err = p.Next(retry.Attempt{Number: 1, Err: err}, time.Since(start))
	_ = retry.After(err, time.Until(quota.Resets))
	_ = retry.After(err, resetAt.Sub(now))
	_ = retry.After(err, time.Since(start))      // as long as the attempt took
	_ = retry.After(err, time.Since(quota.Sent)) // of the past
	log.Print(short, err, time.Since(resetAt))
}

func (e *quotaError) RetryAfter() time.Duration {
	return time.Since(e.Resets) // want `this is negative`
}

type bucket struct{ *rate.Limiter }

func (b bucket) Wait(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !b.Allow() {
		return fmt.Errorf("rate limit of %v reached", b.Limit()) // want `an error of a Limiter ends the call`
	}
	return nil
}

type waiting struct {
	*rate.Limiter
	turns chan struct{}
}

func (w waiting) Wait(ctx context.Context) error {
	select {
	case <-w.turns:
		return nil
	case <-time.After(time.Minute):
		return errors.New("quota exceeded for a minute")
	case <-ctx.Done():
		return ctx.Err()
	}
}

type delegating struct{ of *rate.Limiter }

func (d delegating) Wait(ctx context.Context) error {
	if d.of == nil {
		return errors.New("rate limiter is missing")
	}
	return d.of.Wait(ctx)
}

var errOpen = errors.New("circuit is open")

type breaker struct{ failures int }

func (b *breaker) Wait(context.Context) error {
	if b.failures > 10 {
		return errOpen // ends the call on purpose
	}
	return nil
}

var errSkipped, errStopped = errors.New("the user skipped the wait"), errors.New("stopped")

type button struct {
	retry.SystemClock
	pressed, stopped chan struct{}
}

func (b *button) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-b.pressed:
		return errSkipped // want `an error of Sleep ends the call: return nil to end the wait alone`
	case <-b.stopped:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

func helper(n int) time.Duration {
	d := base << n // want `this overflows after some 30 retries`
	if d > limit {
		d = limit
	}
	return d
}

func helperPower(n int) time.Duration {
	return time.Duration(math.Pow(2, float64(n))) * time.Second // want `this overflows after some 30 retries`
}

func helperRight(n int) time.Duration { return base << n }

func helperBound(n int) time.Duration { return base << min(n, 8) }

func usesHelpers(call func() error) {
	for i := 0; ; i++ {
		if call() == nil {
			return
		}
		time.Sleep(helper(i))
	}
}

func usesPower(call func() error) {
	for n := 1; ; n++ {
		if call() == nil {
			return
		}
		time.Sleep(helperPower(n - 1))
	}
}

func usesRight(call func() error) {
	for i := 0; i < 8; i++ {
		if call() == nil {
			return
		}
		time.Sleep(helperRight(i))
	}
	for i := 0; ; i++ {
		if call() == nil {
			return
		}
		time.Sleep(helperBound(i))
	}
}

func headers(w http.ResponseWriter, resp *http.Response, err error, resetAt time.Time) error {
	w.Header().Set("Retry-After", strconv.Itoa(int(time.Since(resetAt).Seconds()))) // want `this is negative`
	w.Header().Set("Age", strconv.Itoa(int(time.Since(resetAt).Seconds())))
	at, _ := http.ParseTime(resp.Header.Get("Retry-After"))
	if resp.StatusCode == http.StatusTooManyRequests {
		return retry.After(err, time.Since(at)) // want `this is negative`
	}
	return retry.After(err, time.Until(at))
}

func integers(u float64, wait int64) int64 {
	return wait + int64(rand.Float64())*wait // want `this is always 0`
}

type slots struct{ free chan struct{} }

func (s slots) Wait(ctx context.Context) error {
	select {
	case <-s.free:
		return nil
	default:
		return retry.Throttled(errors.New("too many calls in this second")) // want `an error of a Limiter ends the call`
	}
}

// bulkhead sheds load on purpose.
type bulkhead struct{ free chan struct{} }

func (b bulkhead) Wait(ctx context.Context) error {
	select {
	case <-b.free:
		return nil
	default:
		return errors.New("too many calls in progress")
	}
}

func whole(wait time.Duration) time.Duration {
	wait += time.Duration(rand.IntN(1)) * time.Second // want `this is always 0, because the number is below 1`
	return wait + time.Duration(rand.IntN(10))*time.Second
}
