package retryconfig_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

const (
	ms      = time.Millisecond
	forever = time.Duration(math.MaxInt64)
)

var errOp = errors.New("operation failed")

func textOf(p retry.Policy) string { return retryconfig.Policy{Policy: p}.String() }

// Parts of other packages.

type foreignBackoff struct{}

func (foreignBackoff) Delay(retry.Attempt, float64) time.Duration { return time.Second }

type foreignHint struct{}

func (foreignHint) Wait(delay, _ time.Duration) (time.Duration, bool) { return delay, true }

type foreignBudget struct{ retry.Budget }

type foreignLimiter struct{ faulty bool }

func (*foreignLimiter) Wait(context.Context) error { return nil }

type foreignClassifier []string // panics when compared with ==

func (foreignClassifier) Classify(error) retry.Verdict { return retry.Verdict{} }

// The preset "house" has a rule of its own, and services.

type houseRule struct{ foreignBackoff }

func (houseRule) String() string { return "house-rule" }

type houseClassifier struct {
	retry.DefaultClassifier
	service string
}

func newHouse(service string) (retry.Policy, error) {
	if service != "" && service != "kitchen" {
		return retry.Policy{}, fmt.Errorf("house has no service %q", service)
	}
	return retry.Policy{
		Backoff:     retry.WhenThrottled{Throttled: houseRule{}, Else: retry.FullJitter{Base: 50 * ms, Cap: 20 * time.Second}},
		MaxAttempts: 4,
		Hint:        retry.HintIgnore{},
		Budget:      &awspreset.TokenBudget{Capacity: 500, Costs: awspreset.TokenCosts{Transient: 5, Timeout: 5}, SuccessOnly: true},
		Limiter:     &foreignLimiter{},
		Classifier:  houseClassifier{service: service},
	}, nil
}

func house(service string) retry.Policy {
	p, err := newHouse(service)
	if err != nil {
		panic(err)
	}
	return p
}

func init() {
	retryconfig.AddForTests(
		"house", newHouse, func(p retry.Policy) (string, bool) {
			c, ok := p.Classifier.(houseClassifier)
			return c.service, ok
		},
		"porter", func() retry.Limiter { return &foreignLimiter{} },
		func(l retry.Limiter) bool { p, ok := l.(*foreignLimiter); return ok && !p.faulty })
}
