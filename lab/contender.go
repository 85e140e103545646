package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// A Contender is what takes part in a comparison: a policy and its name.
type Contender struct {
	Name string

	// Policy returns a new policy, with a budget and a limiter of its own if it
	// has any: each simulated process gets one. They are to take their time from
	// the clock.
	Policy func(clock retry.Clock) retry.Policy

	// First spreads the first attempts of all clients evenly over this time. In
	// a [Storm], whose calls come at random times, it has no meaning. 0: none.
	First time.Duration

	// Slots lets the server of a [Contention] answer conflicts with a hint: each
	// gets the next of the times that are this far apart. 0: no hints.
	Slots time.Duration
}

// The keys that ParseContender adds to the text form of a policy.
var contenderKeys = []string{"budget", "limiter", "first", "slots"}

// ParseContender reads a Contender from text, which is also its name, with one
// space where it separates: the text form of a [retry.Policy] or of a rule of this package ([KnownContenders],
// [VersionSeen]), and after it any of
//
//	budget=aws                               the zero retry.TokenBudget
//	budget=bucket:CAPACITY:COST[:TIMEOUT]    a retry.TokenBudget; TIMEOUT is the cost after one
//	budget=throttle[:TOKENS[:RATIO]]         a retry.ThrottleBudget
//	budget=ratio[:RATIO[:FLOOR]]             a retry.RatioBudget; FLOOR in retries a second
//	budget=none                              not even that of the profile
//	limiter=adaptive                         a awspreset.AdaptiveLimiter
//	first=DURATION                           Contender.First
//	slots=DURATION                           Contender.Slots
//
// such as
//
//	full base=100ms cap=20s attempts=4 budget=throttle:10:0.1
//	aws-standard-2026 attempts=5
//	known each=7ms
func ParseContender(text string) (Contender, error) {
	c, err := parseContender(text)
	switch {
	case errors.Is(err, retry.ErrInvalid): // which says so itself
		return Contender{}, err
	case err != nil:
		return Contender{}, fmt.Errorf("policy %q: %w", text, err)
	}
	return c, nil
}

func parseContender(text string) (Contender, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) })
	c := Contender{Name: strings.Join(words, " ")}
	own, rest, err := splitKeys(words)
	if err != nil {
		return c, err
	}
	if c.First, err = durationOf(own["first"]); err != nil {
		return c, fmt.Errorf("first: %w", err)
	}
	if c.Slots, err = durationOf(own["slots"]); err != nil {
		return c, fmt.Errorf("slots: %w", err)
	}
	budget, err := budgetOf(own["budget"])
	if err != nil {
		return c, fmt.Errorf("budget: %w", err)
	}
	limiter := own["limiter"]
	if limiter != "" && limiter != "adaptive" {
		return c, fmt.Errorf("limiter %q: want adaptive", limiter)
	}
	policy, err := policyOf(rest)
	if err != nil {
		return c, err
	}
	c.Policy = func(clock retry.Clock) retry.Policy {
		p := policy()
		if budget != nil {
			p.Budget = budget()
		}
		if limiter != "" {
			p.Limiter = &awspreset.AdaptiveLimiter{}
		}
		return onClock(p, clock)
	}
	return c, nil
}

// onClock sets the clock of p and of what it has.
func onClock(p retry.Policy, clock retry.Clock) retry.Policy {
	p.Clock = clock
	if l, ok := p.Limiter.(*awspreset.AdaptiveLimiter); ok {
		l.Clock = clock
	}
	if b, ok := p.Budget.(*retry.RatioBudget); ok {
		b.Clock = clock
	}
	return p
}

// splitKeys takes the keys of ParseContender out of words.
func splitKeys(words []string) (own map[string]string, rest string, err error) {
	own = map[string]string{}
	var others []string
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok || !slices.Contains(contenderKeys, key):
			others = append(others, word)
		case value == "":
			return nil, "", fmt.Errorf("%s: no value", key)
		case own[key] != "":
			return nil, "", fmt.Errorf("%s: given twice", key)
		default:
			own[key] = value
		}
	}
	return own, strings.Join(others, " "), nil
}

func durationOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%v is not above 0", d)
	}
	return d, err
}

// policyOf returns a function that makes a new policy of text.
func policyOf(text string) (func() retry.Policy, error) {
	rule, ok, err := informedRule(text)
	if err != nil {
		return nil, err
	}
	if ok {
		return func() retry.Policy { return retry.Policy{Backoff: rule} }, nil
	}
	parse := func() (retry.Policy, error) {
		if text == "" {
			return retry.Policy{}, errors.New("no policy")
		}
		return retry.ParsePolicy(text)
	}
	if _, err := parse(); err != nil {
		return nil, err
	}
	return func() retry.Policy {
		p, _ := parse() // each time anew, because profiles come with a budget and a limiter
		return p
	}, nil
}

// budgetOf returns a function that makes a new budget of text, or nil if there
// is none.
func budgetOf(text string) (func() retry.Budget, error) {
	if text == "" {
		return nil, nil
	}
	name, list, _ := strings.Cut(text, ":")
	kind, ok := budgets[name]
	if !ok {
		return nil, fmt.Errorf("unknown %q; known are aws, bucket, none, ratio and throttle", name)
	}
	var values []float64
	for word := range strings.SplitSeq(list, ":") {
		if list == "" {
			break
		}
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Errorf("%q in %q is not a number from 0 up", word, text)
		}
		values = append(values, v)
	}
	if len(values) < kind.least || len(values) > kind.most {
		return nil, fmt.Errorf("%q has %d numbers; %s takes %d to %d", text, len(values), name, kind.least, kind.most)
	}
	values = append(values, make([]float64, kind.most)...)
	return func() retry.Budget { return kind.make(values) }, nil
}

// budgets are the kinds of budget and how many numbers each takes; those not
// given are 0.
var budgets = map[string]struct {
	least, most int
	make        func(v []float64) retry.Budget
}{
	"none": {0, 0, func([]float64) retry.Budget { return nil }},
	"aws":  {0, 0, func([]float64) retry.Budget { return &retry.TokenBudget{} }},
	"bucket": {2, 3, func(v []float64) retry.Budget {
		costs := retry.TokenCosts{Transient: v[1], Timeout: v[1], Throttled: v[1]}
		if v[2] != 0 {
			costs.Timeout = v[2]
		}
		return &retry.TokenBudget{Capacity: v[0], Costs: costs}
	}},
	"throttle": {0, 2, func(v []float64) retry.Budget {
		return &retry.ThrottleBudget{MaxTokens: v[0], TokenRatio: v[1]}
	}},
	"ratio": {0, 2, func(v []float64) retry.Budget {
		return &retry.RatioBudget{Ratio: v[0], Floor: v[1]}
	}},
}

// Blog returns the five strategies of Marc Brooker, "Exponential Backoff And
// Jitter", AWS Architecture Blog, 2015, as its simulation has them
// (aws-samples/aws-arch-backoff-simulator at 66cb169). That counts attempts
// from 1, so that what it calls a base of 5 ms is one of 10 ms here, but for
// decorrelated jitter.
func Blog() []Contender {
	return mustParse(
		"none",
		"exponential base=10ms cap=2s",
		"equal base=10ms cap=2s",
		"full base=10ms cap=2s",
		"decorrelated base=5ms cap=2s",
	)
}

// SDKs returns the profiles of all AWS SDKs that the library has.
func SDKs() []Contender {
	var names []string
	for p := range awspreset.All() {
		names = append(names, p.String())
	}
	return mustParse(names...)
}

// Usual returns what most clients of a server that fails do: no retry, retries, and
// retries with each kind of budget.
func Usual() []Contender {
	return mustParse(
		"none attempts=1",
		"none attempts=4",
		"full base=100ms cap=20s attempts=4",
		"full base=100ms cap=20s attempts=4 budget=aws",
		"full base=100ms cap=20s attempts=4 budget=throttle",
		"full base=100ms cap=20s attempts=4 budget=ratio:0.1:0.1",
		"aws-standard-2026",
	)
}

// Informed returns what a client can do that knows more than how often it has
// failed: how many others there are, how fast the row's version moves, what the
// server advises; or that does not start when all others do.
func Informed() []Contender {
	return mustParse(
		"full base=10ms cap=2s first=200ms",
		"known each=7ms",
		"known each=20ms",
		"version base=300ms",
		"none slots=25ms",
	)
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
