package invalid

import (
	"context"
	"math"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

const limit = time.Second

var (
	a    = retry.Fibonacci{}                                                       // want `Fibonacci: Base is 0, which never waits`
	b    = retry.Schedule{}                                                        // want `Schedule: has no delays`
	c    = retry.Exponential{Base: time.Minute, Cap: limit}                        // want `Exponential: Base 1m0s is above Cap 1s`
	d    = retry.EqualJitter{Base: 1e9, Cap: 2e9, Factor: 0.5}                     // want `Factor 0.5 is not a number of at least 1`
	e    = retry.Constant(-time.Second)                                            // want `Constant: delay -1s is negative`
	f    = retry.Schedule{time.Second, -1}                                         // want `delay 2 -1ns is negative`
	g    = retry.Policy{MaxAttempts: -1, Backoff: retry.Fibonacci{Cap: 1}}         // want `MaxAttempts is negative \(-1\)` `Fibonacci: Base is 0`
	h    = retry.Jittered{Share: 5}                                                // want `Share 5 is not between 0 and 1`
	i    = retry.Spread{Of: retry.Constant(time.Second), Fraction: 20}             // want `Fraction 20 is not between 0 and 1`
	j    = retry.Policy{Budget: &retry.SharedBudget{Reserve: -5}}                  // want `budget: Reserve -5 is not a number of at least 0`
	k    = retry.FullJitter{Base: 100, Cap: limit}                                 // want `Base 100ns is below 1µs; is its unit missing\?`
	l    = retry.WhenThrottled{Else: retry.FullJitter{time.Hour, limit, 0}}        // want `FullJitter: Base 1h0m0s is above Cap 1s`
	m    = retry.Policy{Backoff: retry.Linear{}, Hint: retry.HintAtLeast{Max: -1}} // want `Linear: Base is 0` `HintAtLeast: Max -1ns is negative`
	n, _ = retryconfig.Parse("full base=100 attempts=3")                           // want `base`
	o, _ = retryconfig.Parse("aws-standard-2.1 atempts=3")                         // want `did you mean "attempts"`
)

var (
	_    = retry.Policy{}
	_    = retry.Policy{Backoff: retry.FullJitter{Base: time.Second, Cap: time.Minute}, MaxAttempts: retry.Unlimited}
	_    = retry.Linear{Step: time.Second}
	_    = retry.NoDelay{}
	_, _ = retryconfig.Parse("aws-standard-2.1 service=dynamodb attempts=6")
	_, _ = retryconfig.Parse("ours base=1s") // another package may register it
)

var (
	_ = retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: retry.Unlimited}                            // want `Backoff grows without a Cap, and neither MaxAttempts nor MaxElapsed ends it`
	_ = retry.Policy{Backoff: retry.Spread{Of: retry.Exponential{Base: limit}, Fraction: 0.1}, MaxAttempts: retry.Unlimited} // want `Backoff grows without a Cap`
	_ = retry.Policy{Backoff: retry.Capped{Of: retry.Linear{Step: limit}, Cap: limit}, MaxAttempts: retry.Unlimited}
	_ = retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: retry.Unlimited, MaxElapsed: time.Hour}
	_ = retry.Policy{Backoff: retry.Exponential{Base: time.Second}}
)

func patient(base, most, all time.Duration) []retry.Policy {
	return []retry.Policy{
		{Backoff: retry.FullJitter{Base: base}, MaxAttempts: retry.Unlimited}, // want `Backoff grows without a Cap`
		{Backoff: retry.FullJitter{Base: base, Cap: most}, MaxAttempts: retry.Unlimited},
		{Backoff: retry.FullJitter{Base: base}, MaxAttempts: retry.Unlimited, MaxElapsed: all},
	}
}

func shown() {
	_ = retry.Fibonacci{}                                     // want `Base is 0`
	_ = retry.FullJitter{Base: time.Minute, Cap: time.Second} // want `Base 1m0s is above Cap 1s`
	_, _ = retryconfig.Parse("full base=100ms attempt=5")     // want `unknown key "attempt"`
}

func configured(base, most time.Duration, rule retry.Backoff, share float64) []retry.Backoff {
	return []retry.Backoff{
		retry.FullJitter{Base: base},
		retry.FullJitter{Base: base, Cap: most, Factor: math.Sqrt2},
		retry.FullJitter{Base: time.Hour, Cap: most},
		retry.Jittered{Of: rule, Share: share},
		retry.Schedule{base, most},
		retry.Constant(base),
		retry.Fibonacci{Cap: most}, // want `Base is 0`
	}
}

func made(rule func() retry.FullJitter) retry.Policy {
	return retry.Policy{Backoff: rule(), Hint: retry.HintAtLeast{}}
}

func parts(rule retry.Backoff) []retry.Backoff {
	return []retry.Backoff{
		retry.Jittered{Of: retry.Constant(time.Second), Share: 0.5},
		retry.Spread{Of: rule, Fraction: 2}, // want `Fraction 2 is not between 0 and 1`
	}
}

func filled(base time.Duration) retry.Backoff {
	rule := retry.Fibonacci{Cap: time.Minute}
	rule.Base = base
	return rule
}

func do(ctx context.Context, op func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{Backoff: retry.Fibonacci{Cap: time.Minute}}, op) // want `Fibonacci: Base is 0`
}

var _ = retry.Policy{AttemptTimeout: 30} // want `AttemptTimeout 30ns is below 1µs; is its unit missing\?`
