package lab

// The compared policies, and named groups of them.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

// A Contender is a named policy in a comparison.
//
// A simulated call is a call to [retry.Do], or an equivalent computation that honors the
// whole policy. A simulation returns an error at once for a policy that it cannot honor.
type Contender struct {
	Name string

	// Policy returns a new policy for a simulated process, with its own budget and
	// limiter, if any. They must use the clock.
	Policy func(clock retry.Clock) retry.Policy

	// Stagger bounds a random wait before each client's call, outside of the policy. Only a
	// [Contention] honors it, because its clients start together.
	Stagger time.Duration
}

// ParseContender reads a Contender from the text form of a policy (see
// [retryconfig.Parse]) with an additional key stagger, and with additional budgets for
// comparison:
//
//	budget=token(capacity= cost= timeout= throttled= success=)  an awspreset.TokenBudget
//	budget=throttle(maxtokens= tokenratio=)                     a ThrottleBudget
//	budget=ratio(ratio= floor=)                                 a RatioBudget
//
// Its name is the text of the parsed policy, which always includes the number of attempts.
func ParseContender(text string) (Contender, error) {
	words := strings.Fields(text)
	for i, word := range words {
		if value, ok := strings.CutPrefix(word, "stagger="); ok {
			return staggered(strings.Join(slices.Delete(words, i, i+1), " "), value)
		}
	}
	if strings.TrimSpace(text) == "" {
		return Contender{}, errors.New(`no policy; one is "full base=100ms cap=20s attempts=5"`)
	}
	text, budget, err := cutBudget(text)
	if err != nil {
		return Contender{}, err
	}
	p, err := retryconfig.Parse(text)
	if err != nil {
		return Contender{}, err
	}
	_, hasCodes := p.Classifier.(retry.Codes)
	if hasCodes {
		return Contender{}, errors.New("the simulated server has no codes for retry-on and stop-on")
	}
	name := retryconfig.Policy{Policy: p}.String()
	if budget != nil {
		name += " budget=" + budget.text
	}
	return Contender{Name: name, Policy: func(clock retry.Clock) retry.Policy {
		p, _ := retryconfig.Parse(text) // a new one, for a separate budget and limiter
		if budget != nil {
			p.Budget = budget.make()
		}
		return onClock(p, clock)
	}}, nil
}

func staggered(text, stagger string) (Contender, error) {
	d, err := time.ParseDuration(stagger)
	if err != nil || d <= 0 {
		return Contender{}, fmt.Errorf("stagger=%s is not a duration above 0, such as 200ms", stagger)
	}
	c, err := ParseContender(text)
	c.Name, c.Stagger = c.Name+" stagger="+d.String(), d
	return c, err
}

func onClock(p retry.Policy, clock retry.Clock) retry.Policy {
	p.Clock = clock
	if l, ok := p.Limiter.(*awspreset.AdaptiveLimiter); ok {
		l.Clock = clock
	}
	switch b := p.Budget.(type) {
	case *retry.SharedBudget:
		b.Clock = clock
	case *RatioBudget:
		b.Clock = clock
	}
	return p
}

// Blog returns the five strategies of Marc Brooker's program (see [Contention]), which
// counts attempts from 1: its base of 5 ms corresponds to 10 ms here, except for
// decorrelated jitter. Clients continue until they succeed.
func Blog() []Contender {
	return mustParse(
		"no-delay attempts=unlimited",
		"exponential base=10ms cap=2s attempts=unlimited",
		"equal base=10ms cap=2s attempts=unlimited",
		"full base=10ms cap=2s attempts=unlimited",
		"decorrelated base=5ms cap=2s attempts=unlimited",
	)
}

// Fibonacci returns full jitter over Fibonacci growth. In a [Contention] with 10 to 190
// clients, it needs fewer calls and less time than the full jitter of [Blog].
func Fibonacci() []Contender {
	return mustParse("jittered(fibonacci base=50ms cap=1.9s) share=1 attempts=unlimited")
}

// SDKs returns all presets of package awspreset.
func SDKs() []Contender {
	var names []string
	for p := range awspreset.All() {
		names = append(names, p.String())
	}
	return mustParse(names...)
}

// Usual returns the policies that clients of a failing server usually have: no retries,
// retries, and retries with each kind of budget.
func Usual() []Contender {
	return mustParse(
		"none",
		"no-delay attempts=4",
		"full base=100ms cap=20s attempts=4",
		"full base=100ms cap=20s attempts=4 budget=shared",
		"full base=100ms cap=20s attempts=4 budget=token",
		"full base=100ms cap=20s attempts=4 budget=throttle",
		"full base=100ms cap=20s attempts=4 budget=ratio(ratio=0.1 floor=0.1)",
		"aws-standard-2.1",
	)
}

// Patient returns the zero [retry.Policy], that policy with a budget, and policies that retry
// for a minute, without a budget and with some.
func Patient() []Contender {
	return mustParse(
		"standard attempts=3",
		"standard attempts=3 budget=shared",
		"standard elapsed=1m timeout=10s",
		"standard elapsed=1m timeout=10s budget=shared",
		"standard elapsed=1m timeout=10s budget=token",
	)
}

// The texts of the policies with which others are compared: no retry, and the zero
// [retry.Policy].
const (
	NoRetry    = "none"
	ZeroPolicy = "standard attempts=3"
)

// WithReferences returns list after [NoRetry] and [ZeroPolicy], unless it contains them.
func WithReferences(list []Contender) []Contender {
	return Join(mustParse(NoRetry, ZeroPolicy), list)
}

// Join returns the contenders of all lists, and of those with the same name only the first.
func Join(lists ...[]Contender) []Contender {
	names := map[string]bool{}
	return slices.DeleteFunc(slices.Concat(lists...), func(c Contender) bool {
		again := names[c.Name]
		names[c.Name] = true
		return again
	})
}

func mustParse(texts ...string) []Contender {
	contenders := make([]Contender, len(texts))
	for i, text := range texts {
		var err error
		if contenders[i], err = ParseContender(text); err != nil {
			panic(err)
		}
	}
	return contenders
}
