// Package attempts says how many attempts policies make. Each way to run a policy has a
// test with this table: those of this module here, the others in their modules.
package attempts

import (
	"context"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// Enough is the attempt at which the operation of a test succeeds, so that a policy without
// a bound ends.
const Enough = 100

// A Row is a policy without a Classifier and a Budget, which belong to what is called.
type Row struct {
	Name   string
	Policy retry.Policy
	Hint   time.Duration // that comes with every failure

	// Most is the number of attempts that the policy allows, as Policy.Attempts returns it.
	Most int
	// Made is the number of attempts of a call whose attempts take no time and fail before
	// Enough; 0 if it depends on random numbers.
	Made int
}

// Rows returns the table.
func Rows() []Row {
	const unlimited = retry.Unlimited
	ms, s, minute := time.Millisecond, time.Second, time.Minute
	doubling := retry.Exponential{Base: 25 * ms, Cap: 10 * s} // 25 ms, 50 ms … 6.4 s, 10 s, 10 s …
	list := retry.Schedule{s, 2 * s}
	return []Row{
		{"zero", retry.Policy{}, 0, 3, 3},
		{"no retry", retry.Policy{MaxAttempts: 1}, 0, 1, 1},
		{"7 attempts", retry.Policy{MaxAttempts: 7}, 0, 7, 7},
		{"unlimited", retry.Policy{Backoff: retry.Constant(s), MaxAttempts: unlimited}, 0, unlimited, Enough},

		{"a minute", retry.Policy{MaxElapsed: minute}, 0, unlimited, 0},
		{"a second, doubling", retry.Policy{Backoff: doubling, MaxElapsed: s}, 0, unlimited, 6},
		{"a minute, doubling", retry.Policy{Backoff: doubling, MaxElapsed: minute}, 0, unlimited, 14},
		{"a minute, unlimited", retry.Policy{Backoff: doubling, MaxElapsed: minute, MaxAttempts: unlimited}, 0, unlimited, 14},
		{"a minute, 4 attempts", retry.Policy{Backoff: doubling, MaxElapsed: minute, MaxAttempts: 4}, 0, 4, 4},
		{"a second, 20 attempts", retry.Policy{Backoff: doubling, MaxElapsed: s, MaxAttempts: 20}, 0, 20, 6},

		{"schedule", retry.Policy{Backoff: list}, 0, 3, 3},
		{"schedule, a minute", retry.Policy{Backoff: list, MaxElapsed: minute}, 0, 3, 3},
		{"schedule, 2 seconds", retry.Policy{Backoff: list, MaxElapsed: 2 * s}, 0, 3, 2},
		{"schedule, 5 attempts", retry.Policy{Backoff: list, MaxAttempts: 5}, 0, 5, 5},
		{"schedule in a rule", retry.Policy{Backoff: retry.Capped{Of: list, Cap: s}}, 0, 3, 3},
		{"schedule in a rule, 10.5 seconds", retry.Policy{Backoff: retry.Capped{Of: list, Cap: s}, MaxElapsed: 10*s + 500*ms}, 0, 3, 3},

		{"no delay", retry.Policy{Backoff: retry.NoDelay{}}, 0, 3, 3},
		{"no delay, a minute", retry.Policy{Backoff: retry.NoDelay{}, MaxElapsed: minute}, 0, 3, 3},
		{"constant 0, a minute", retry.Policy{Backoff: retry.Constant(0), MaxElapsed: minute}, 0, 3, 3},
		{"no delay, a minute, 50 attempts", retry.Policy{Backoff: retry.NoDelay{}, MaxElapsed: minute, MaxAttempts: 50}, 0, 50, 50},
		{"a rule that ends", retry.Policy{Backoff: Ending{}, MaxAttempts: 9}, 0, 9, 3},
		{"a rule that ends, inside another", retry.Policy{Backoff: retry.Capped{Of: retry.Jittered{Of: Ending{}}, Cap: minute}, MaxAttempts: 9}, 0, 9, 3},
		{"a rule that ends, a minute", retry.Policy{Backoff: Ending{}, MaxElapsed: minute}, 0, unlimited, 3},
		{"hints that end waits, a minute", retry.Policy{Hint: noWait{}, MaxElapsed: minute}, s, unlimited, 3},

		{"AWS", preset(awspreset.Standard21, ""), 0, 3, 3},
		{"AWS, DynamoDB", preset(awspreset.Standard21, "dynamodb"), 0, 4, 4},
		{"botocore's legacy mode", preset(awspreset.BotocoreLegacy, ""), 0, 5, 5},
		{"botocore's legacy mode, DynamoDB", preset(awspreset.BotocoreLegacy, "dynamodb"), 0, 10, 10},
		{"JavaScript v2, DynamoDB", preset(awspreset.JavaScriptV2, "dynamodb"), 0, 11, 11},
	}
}

func preset(p awspreset.Preset, service string) retry.Policy {
	policy := p.Policy(service)
	policy.Classifier, policy.Budget = nil, nil
	return policy
}

// Ending is a rule that has no further delay after the second: the third attempt is the last.
type Ending struct{}

// Delay returns a second, two seconds and then a negative delay.
func (Ending) Delay(a retry.Attempt, _ float64) time.Duration {
	if a.Number > 2 {
		return -1
	}
	return time.Duration(a.Number) * time.Second
}

// Ends reports whether the rule of the row has no further delay.
func (r Row) Ends() bool { return strings.HasPrefix(r.Name, "a rule that ends") }

// Clocks returns clocks that do not tell the time of the system: one that is years behind and
// advances only by its waits, and one that stands still.
func Clocks() map[string]retry.Clock {
	begin := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	return map[string]retry.Clock{"behind": &retrytest.Clock{Start: begin}, "stands still": still(begin)}
}

type still time.Time

func (c still) Now() time.Time { return time.Time(c) }

func (still) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// noWait is a HintRule that never waits after a hint.
type noWait struct{}

func (noWait) Wait(_, _ time.Duration) (time.Duration, bool) { return 0, true }
