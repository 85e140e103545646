package lab

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// A call makes no attempt after its deadline, which also cuts the last attempt short.
func TestCallerDeadline(t *testing.T) {
	var clock retry.Clock
	attempts, cut, waited := 0, 0, 0
	c := hooked("no-delay attempts=unlimited timeout=800ms", func(p *retry.Policy) {
		clock = p.Clock
		p.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			attempts++
			deadline, _ := ctx.Deadline()
			left := deadline.Sub(clock.Now())
			if left <= 0 || ctx.Err() != nil {
				t.Fatalf("attempt %d begins %v before the deadline", a.Number, left)
			}
			begun := clock.Now()
			return ctx, func(a retry.Attempt) {
				took := clock.Now().Sub(begun)
				if took > min(left, 800*time.Millisecond) {
					t.Fatalf("attempt %d took %v, %v before the deadline", a.Number, took, left)
				}
				if a.Err != nil && took < 800*time.Millisecond {
					cut++
				}
			}
		}
		p.OnGiveUp = func(ctx context.Context, e *retry.Error) {
			if errors.Is(e, errStopped) {
				return // the trial is over
			}
			if deadline, _ := ctx.Deadline(); clock.Now().After(deadline) || !errors.Is(e, context.DeadlineExceeded) {
				t.Fatalf("gives up %v after the deadline: %v", clock.Now().Sub(deadline), e)
			}
			waited++
		}
	})
	s := smallStorm()
	s.Contenders, s.Trials, s.Parallel = []Contender{c}, 1, 1
	s.Deadline, s.Queue = 2*time.Second, 20_000
	s.Outage.To = 30 * time.Second
	row := mustRun(t, s)[0]
	if cut < 1000 || waited < 1000 {
		t.Errorf("%d attempts were cut short, %d calls ended at the deadline", cut, waited)
	}
	// Attempts at 0, 0.8 and 1.6 s.
	near(t, "amplification", row.Amplification.Mean, 3, 0.1)
}

// A limiter waits in virtual time, and waits longer after throttling.
func TestCallerLimiter(t *testing.T) {
	all := func(p *retry.Policy) {
		p.Classifier = retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassThrottled} })
	}
	s := smallStorm()
	s.Outage.To = 30 * time.Second
	s.Contenders = []Contender{hooked(threeRetries, all), hooked(threeRetries+" limiter=adaptive", all)}
	rows := mustRun(t, s)
	if rows[1].Amplification.Mean > 1 || rows[0].Amplification.Mean < 3 {
		t.Errorf("amplification %v without a limiter, %v with one", rows[0].Amplification.Mean, rows[1].Amplification.Mean)
	}
	// 20 processes make at least 0.5 attempts a second each.
	if n := rows[1].Attempts[28]; n < 5 || n > 30 {
		t.Errorf("%v attempts a second during the outage", n)
	}
}

// Calls that never give up and never wait end at their deadline or when the trial ends.
func TestCallerUnlimited(t *testing.T) {
	s := smallStorm("no-delay attempts=unlimited")
	s.Rate, s.Trials = 5, 1
	s.Outage = Outage{Kind: Down, From: 10 * time.Second, To: 20 * time.Second}
	s.Deadline = 30 * time.Second
	s.Horizon = 70 * time.Second // 60 s after the beginning of the outage
	row := mustRun(t, s)[0]
	near(t, "success", row.Success.Mean, 1, 0)
	// One attempt every 2 ms, for 5 s on average.
	near(t, "attempts during the outage divided by calls", row.Amplification.Mean*60/10/2500, 1, 0.4)
	for _, trial := range row.Trials {
		if trial.Recovery != 0 || !trial.Recovered || trial.OutageSuccess != 1 {
			t.Errorf("%+v", trial)
		}
	}
}

// A policy without a clock uses the clock of the trial.
func TestCallerOwnClock(t *testing.T) {
	s := smallStorm("no-delay attempts=2")
	s.Contenders = append(s.Contenders, Contender{Name: "no clock", Policy: func(retry.Clock) retry.Policy {
		return retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2}
	}})
	s.Trials = 1
	rows := mustRun(t, s)
	if !reflect.DeepEqual(rows[0].Trials, rows[1].Trials) {
		t.Error("trials differ")
	}
}

func TestCallerErrors(t *testing.T) {
	for _, tt := range []struct {
		err        error
		plain, aws retry.Class
		text       string
	}{
		{errRefused, retry.ClassTransient, retry.ClassTransient, "dial tcp: connect: connection refused"},
		{errTimeout, retry.ClassTimeout, retry.ClassTimeout, "no response in time"},
		{overload(429), retry.ClassThrottled, retry.ClassThrottled, "overloaded"},
		{overload(503), retry.ClassTransient, retry.ClassTransient, "overloaded"},
	} {
		if got := (retry.DefaultClassifier{}).Classify(tt.err).Class; got != tt.plain {
			t.Errorf("%v: %v by default", tt.err, got)
		}
		aws := awspreset.Classifier{Preset: awspreset.Standard21}
		if got := aws.Classify(tt.err).Class; got != tt.aws {
			t.Errorf("%v: %v by AWS", tt.err, got)
		}
		if tt.err.Error() != tt.text {
			t.Errorf("%q", tt.err.Error())
		}
	}
}

func TestCallerClock(t *testing.T) {
	s, err := smallStorm(threeRetries).WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	r := newStormRun(&s, s.Contenders[0], 0)
	clock := &r.world
	c := newCaller(r)
	c.deadline = int64(2 * time.Second)
	var errs []error
	var times []time.Duration
	note := func(err error) {
		errs = append(errs, err)
		times = append(times, clock.Now().Sub(clockStart))
	}
	c.process = &process{policy: retry.Policy{MaxAttempts: 1, Clock: clock}, timeout: math.MaxInt64 / 2}
	c.try = func(ctx context.Context) error {
		note(clock.Sleep(ctx, -1))
		note(clock.Sleep(ctx, time.Second))
		note(clock.Sleep(ctx, math.MaxInt64))
		note(clock.Sleep(ctx, time.Second))
		return retry.Permanent(errStopped)
	}
	c.wake()
	for len(r.timers.heap) > 0 {
		r.now = r.timers.first()
		r.timers.next().fire()
	}
	late := context.DeadlineExceeded
	for i, want := range []error{nil, nil, late, late} {
		wantTime := []time.Duration{0, time.Second, 2 * time.Second, 2 * time.Second}[i]
		if errs[i] != want || times[i] != wantTime {
			t.Errorf("sleep %d returned %v after %v, want %v after %v", i, errs[i], times[i], want, wantTime)
		}
	}
	if c.Done() != nil || c.Value(0) != nil || context.Cause(c) != late {
		t.Error("the context of the call has the wrong channel, value or cause")
	}
	r.callers = append(r.callers, c)
	r.stop()
	if err := clock.Sleep(c, time.Second); err != errStopped {
		t.Errorf("sleep after the end returned %v", err)
	}
}
