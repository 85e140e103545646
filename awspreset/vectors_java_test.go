package awspreset_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

type javaDelay struct {
	Retry      int64
	Random     []float64
	Throttling bool
	Strategy   string // "": that of the preset
	BaseMS     int64  `json:"base_ms"`
	MaxMS      int64  `json:"max_ms"`
	DelayMS    int64  `json:"delay_ms"`
	Error      string
}

func checkJavaDelay(preset awspreset.Preset, service string) func(javaDelay) error {
	return func(c javaDelay) error {
		if c.Error != "" {
			return fmt.Errorf("unknown error %q", c.Error)
		}
		rule, class := preset.Policy(service).Backoff, retry.ClassTransient
		if c.Throttling {
			class = retry.ClassThrottled
		}
		if c.Strategy != "" {
			var err error
			if rule, err = javaRule(c.Strategy, c.BaseMS, c.MaxMS); err != nil {
				return err
			}
		}
		got := rule.Delay(afterRetry(c.Retry, class), onlyRandom(c.Random))
		return mustBe("delay", got, time.Duration(c.DelayMS)*time.Millisecond)
	}
}

func javaRule(strategy string, baseMS, maxMS int64) (retry.Backoff, error) {
	base, limit := time.Duration(baseMS)*time.Millisecond, time.Duration(maxMS)*time.Millisecond
	switch strategy {
	case "FullJitter":
		return awspreset.JavaFull(base, limit), nil
	case "EqualJitter":
		return awspreset.JavaEqual(base, limit), nil
	}
	return nil, fmt.Errorf("unknown strategy %q", strategy)
}

type javaClass struct {
	Status     *int
	Code       *string
	Exception  string
	Retryable  bool
	Throttling *bool
}

var javaCause = regexp.MustCompile(`^SdkClientException (?:caused by )?(no cause|\w+)`)

func checkJavaClass(c javaClass) error {
	failed := serviceError(c.Status, c.Code, "")
	if c.Exception != "" {
		cause := javaCause.FindStringSubmatch(c.Exception)
		if cause == nil {
			return fmt.Errorf("unknown exception %q", c.Exception)
		}
		var err error
		if failed, err = exception(cause[1]); err != nil {
			return err
		}
	}
	class, err := checkClass(awspreset.Classifier{Preset: awspreset.JavaV1Legacy}, failed, c.Retryable)
	if err != nil {
		return err
	}
	return checkThrottled(class, c.Throttling)
}

type javaExec struct {
	Name          string
	MaxErrorRetry *int `json:"max_error_retry"`
	Mode          string
	Policy        string
	Random        []float64
	RandomThen    float64 `json:"random_then"`
	Calls         []javaCall
}

type javaCall struct {
	Responses      []response
	Attempts       int
	Result         string
	DelaysMS       []number  `json:"delays_ms"`
	CapacityAtSend []float64 `json:"capacity_at_each_send"`
	CapacityAfter  float64   `json:"capacity_after"`
}

var javaCapacity = regexp.MustCompile(`maxConsecutiveRetriesBeforeThrottling (\d+)`)

func (c javaExec) policy() (retry.Policy, error) {
	services := map[string]string{"": "", "DEFAULT": "", "DYNAMODB_DEFAULT": "dynamodb"}
	service, ok := services[c.Policy]
	if !ok {
		return retry.Policy{}, fmt.Errorf("unknown policy %q", c.Policy)
	}
	presets := map[string]awspreset.Preset{
		"LEGACY": awspreset.JavaV1Legacy, "STANDARD": awspreset.JavaV1Standard, "ADAPTIVE": awspreset.JavaV1Adaptive,
	}
	preset, ok := presets[c.Mode]
	if !ok {
		return retry.Policy{}, fmt.Errorf("unknown mode %q", c.Mode)
	}
	p := preset.Policy(service)
	p.Limiter = nil // the limiter's traces are checked separately
	if n := c.MaxErrorRetry; n != nil {
		p.MaxAttempts = *n + 1
	}
	if strings.Contains(c.Name, "useThrottleRetries=false") {
		p.Budget = nil
	}
	if m := javaCapacity.FindStringSubmatch(c.Name); m != nil {
		n, _ := strconv.ParseFloat(m[1], 64)
		b := bucketOf(p)
		p.Budget = &retry.TokenBudget{
			Capacity: 5 * n, Costs: b.Costs, Success: b.Success, NoRefund: b.NoRefund, SuccessOnly: b.SuccessOnly,
		}
	}
	return p, nil
}

func bucketOf(p retry.Policy) *retry.TokenBudget { return p.Budget.(*retry.TokenBudget) }

func checkJavaExec(c javaExec) error {
	p, err := c.policy()
	if err != nil {
		return err
	}
	random := recorded(c.Random, c.RandomThen, len(c.Calls)*p.MaxAttempts)
	for i, call := range c.Calls {
		if err := call.check(p, random); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return nil
}

func (c javaCall) check(p retry.Policy, random func() float64) error {
	script, err := scriptOf(c.Responses, "", "", noHint)
	if err != nil {
		return err
	}
	r := play(p, script, random)
	r.copyQuotaDefects(p, script)
	if !slices.Equal(r.balances, c.CapacityAtSend) {
		err = fmt.Errorf("balances at each attempt are %v, want %v", r.balances, c.CapacityAtSend)
	}
	return errors.Join(
		err,
		mustBe("number of attempts", r.attempts, c.Attempts),
		agreeAll(r.waits, c.DelaysMS, time.Millisecond),
		requireWhole(r.waits),
		mustBe("balance after the call", balance(p), c.CapacityAfter),
		r.ended(c.Result == "ok"),
	)
}

// copyQuotaDefects changes the quota as the SDK does and the preset does not. The SDK
// takes the cost of a retry even after the last failure, and then returns 5 tokens if
// the call has taken any.
func (r playback) copyQuotaDefects(p retry.Policy, script []error) {
	if r.last == nil || p.Budget == nil {
		return
	}
	switch class := p.Classify(r.last).Class; {
	case class == retry.ClassThrottled && bucketOf(p).Costs.Throttled == 0 && r.hasPaid(p, script):
		p.Budget.Deposit(failedWith(retry.ClassTransient), true)
	case class == retry.ClassTimeout && bucketOf(p).Costs.Timeout == 10 && errors.Is(r.err, retry.ErrMaxAttempts):
		if p.Budget.TryWithdraw(retry.Attempt{Verdict: retry.Verdict{Class: retry.ClassTimeout}}) {
			p.Budget.Deposit(failedWith(retry.ClassTransient), true)
		}
	}
}

func (r playback) hasPaid(p retry.Policy, script []error) bool {
	retried := min(r.attempts-1, len(script))
	return slices.ContainsFunc(script[:retried], func(err error) bool {
		return p.Classifier.Classify(err).Class != retry.ClassThrottled
	})
}

// requireWhole checks that waits are whole milliseconds, so agreement within a nanosecond
// means equality.
func requireWhole(waits []time.Duration) error {
	for _, d := range waits {
		if d%time.Millisecond != 0 {
			return fmt.Errorf("wait %v is not in whole milliseconds", d)
		}
	}
	return nil
}

type javaHistoric struct {
	Variant    string
	Service    string
	Retry      int64
	Throttling bool
	Random     []float64
	DelayMS    int64 `json:"delay_ms"`
}

func checkJavaHistoric(c javaHistoric) error {
	const limit = 20 * time.Second
	base := map[string]time.Duration{"default": 100 * ms, "dynamodb": 25 * ms}[c.Service]
	var rule retry.Backoff = retry.WhenThrottled{Throttled: awspreset.JavaEqual(500*ms, limit), Else: awspreset.WholeFull(base, limit)}
	if c.Variant == "2015" {
		if c.Service == "default" {
			base = 300 * ms
		}
		rule = retry.Exponential{Base: base, Cap: limit}
	}
	return mustBe("delay", rule.Delay(afterRetry(c.Retry, classOf(c.Throttling)), onlyRandom(c.Random)), milliseconds(c.DelayMS))
}

type javaDelayV2 struct {
	Mode       string
	Retry      int64
	Throttling bool
	Random     []float64
	DelayMS    int64 `json:"delay_ms"`
}

func checkJavaDelayV2(c javaDelayV2) error {
	presets := map[string]retry.Policy{
		"legacy":                 awspreset.JavaV2Legacy.Policy(""),
		"standard-pre2026":       awspreset.JavaV2Standard.Policy(""),
		"standard-2026":          awspreset.JavaV2Standard2026.Policy(""),
		"standard-2026-dynamodb": awspreset.JavaV2Standard2026.Policy("dynamodb"),
	}
	p, ok := presets[c.Mode]
	if !ok {
		return fmt.Errorf("unknown mode %q", c.Mode)
	}
	return mustBe("delay", p.Backoff.Delay(afterRetry(c.Retry, classOf(c.Throttling)), onlyRandom(c.Random)), milliseconds(c.DelayMS))
}
