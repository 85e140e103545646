package awspreset_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

type pollingDelay struct {
	Retry         int64
	MaxIntervalMS int64 `json:"max_wait_interval_ms"`
	ExpMS         int64 `json:"wait_time_exp_ms"`
	DelayMS       int64 `json:"delay_ms"`
}

// checkPollingDelay checks a Java sample that waits 2ⁿ · 100 ms with a cap.
func checkPollingDelay(c pollingDelay) error {
	if c.Retry <= 0 {
		return mustBe("the sample's first delay", c.DelayMS, 0)
	}
	limit := milliseconds(c.MaxIntervalMS)
	want := milliseconds(c.DelayMS)
	exact := new(big.Int).Lsh(big.NewInt(100), uint(c.Retry))
	if exact.Cmp(big.NewInt(c.ExpMS)) != 0 {
		want = limit // the sample's variable of type long overflows
	}
	rule := retry.Exponential{Base: 200 * time.Millisecond, Cap: limit}
	return mustBe("delay", rule.Delay(afterRetry(c.Retry-1, retry.ClassUnknown), 0), want)
}

type blogDelay struct {
	Strategy  string
	Base, Cap number // in milliseconds
	Retry     int64
	Random    []float64
	Delay     number
	Delays    []number // one chain
}

func checkBlogDelay(c blogDelay) error {
	base, limit := c.Base.times(time.Millisecond), c.Cap.times(time.Millisecond)
	const slack = wholeNanosecond + 1e-4 // the simulator rounds more often
	var rule retry.Backoff
	switch c.Strategy {
	case "ExpoBackoff":
		rule = retry.Exponential{Base: base, Cap: limit}
	case "ExpoBackoffEqualJitter":
		rule = retry.EqualJitter{Base: base, Cap: limit}
	case "ExpoBackoffFullJitter":
		rule = retry.FullJitter{Base: base, Cap: limit}
	case "ExpoBackoffDecorr":
		rule = retry.DecorrelatedJitter{Base: base, Cap: limit}
		a, inherited := retry.Attempt{}, 0.0
		if len(c.Delays) == 0 || len(c.Delays) != len(c.Random) {
			return fmt.Errorf("%d random numbers and %d delays", len(c.Random), len(c.Delays))
		}
		for i, u := range c.Random {
			a.Number, a.Waited = i+1, rule.Delay(a, u)
			inherited = slack + 3*u*inherited // each delay multiplies the earlier truncation error by 3u
			if err := agree(a.Waited, c.Delays[i], time.Millisecond, inherited); err != nil {
				return fmt.Errorf("delay %d: %w", i+1, err)
			}
		}
		return nil
	default:
		return fmt.Errorf("unknown strategy %q", c.Strategy)
	}
	return agree(rule.Delay(afterRetry(c.Retry, retry.ClassTransient), onlyRandom(c.Random)), c.Delay, time.Millisecond, slack)
}

type pollingLoop struct {
	Variant       string
	MaxRetries    int      `json:"max_retries"`
	SucceedsOn    int      `json:"succeeds_on_poll"`
	MaxIntervalMS *int64   `json:"max_wait_interval_ms"`
	WaitsMS       []number `json:"waits_ms"`
	Polls         int
	Succeeded     bool
}

// checkPollingLoop builds the polling loops of the AWS General Reference.
func checkPollingLoop(c pollingLoop) error {
	var limit time.Duration
	if c.MaxIntervalMS != nil {
		limit = milliseconds(*c.MaxIntervalMS)
	}
	p := retry.Policy{MaxAttempts: c.MaxRetries + 1}
	waits, attemptsBefore := c.WaitsMS, 0
	switch c.Variant {
	case "java":
		// The sample waits 0 ms before the first poll; Do does not wait.
		if len(waits) == 0 || waits[0] != 0 {
			return fmt.Errorf("first wait of %v is not 0", waits)
		}
		waits = waits[1:]
		p.Backoff = retry.Exponential{Base: 200 * time.Millisecond, Cap: limit}
	case "pseudo-code":
		// The sample waits before every poll, so the first attempt here is not a poll. The
		// sample polls once even if the maximum is 0.
		attemptsBefore = 1
		p.MaxAttempts = max(c.MaxRetries, 1) + attemptsBefore
		p.Backoff = retry.Exponential{Base: 100 * time.Millisecond, Cap: limit}
	default:
		return fmt.Errorf("unknown variant %q", c.Variant)
	}
	script := slices.Repeat([]error{errors.New("not ready")}, attemptsBefore+c.SucceedsOn-1)
	r := play(p, append(script, nil), retrytest.Fixed(0))
	return errors.Join(
		mustBe("number of polls", r.attempts-attemptsBefore, c.Polls),
		agreeAll(r.waits, waits, time.Millisecond),
		r.ended(c.Succeeded),
		r.gaveUp(!c.Succeeded, false),
	)
}
