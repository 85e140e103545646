package awspreset_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

type botocoreDelay struct {
	Attempt int64
	Random  []float64
	Base    any     // seconds, or "rand": random seconds from 0 to 1
	Growth  float64 `json:"growth_factor"`
	DelayS  number  `json:"delay_s"`
	Error   string
}

func checkBotocoreDelay(c botocoreDelay) error {
	var rule retry.Backoff
	exact := new(big.Rat).SetInt64(int64(time.Second))
	switch base := c.Base.(type) {
	case string:
		if err := mustBe("base", base, "rand"); err != nil {
			return err
		}
		rule = awspreset.BotocoreLegacy.Policy("").Backoff
		if c.Growth != 2 {
			rule = retry.FullJitter{Base: time.Second, Factor: c.Growth}
		}
		exact.Mul(exact, new(big.Rat).SetFloat64(onlyRandom(c.Random)))
	case float64:
		rule = awspreset.BotocoreLegacy.Policy("dynamodb").Backoff
		if own := number(base).times(time.Second); rule != (retry.Exponential{Base: own}) || c.Growth != 2 {
			rule = retry.Exponential{Base: own, Factor: c.Growth}
		}
		exact.Mul(exact, new(big.Rat).SetFloat64(base))
	}
	got := rule.Delay(retry.Attempt{Number: int(c.Attempt), Verdict: retry.Verdict{Class: retry.ClassTransient}}, onlyRandom(c.Random))
	switch c.Error {
	case "":
		return agree(got, c.DelayS, time.Second, wholeNanosecond)
	case "ValueError":
		// botocore refuses a base that is not positive; here it means no wait.
		return mustBe("delay", got, 0)
	case "OverflowError":
		// growth ** n overflows in Python; here the delay saturates.
		growth := new(big.Int).Exp(big.NewInt(int64(c.Growth)), big.NewInt(c.Attempt-1), nil)
		return near(got, exact.Mul(exact, new(big.Rat).SetInt(growth)), wholeNanosecond)
	}
	return fmt.Errorf("unknown error %q", c.Error)
}

type botocoreClass struct {
	Service    string `json:"service_prefix"`
	Status     *int
	Code       *string
	Exception  string
	CRC32      string
	Attempt    int // that failed; 0: any
	Random     []float64
	Retryable  bool
	DelayS     *number `json:"delay_s"`
	MaxReached *bool   `json:"max_attempts_reached_flag"`
}

func (c botocoreClass) failure() (error, error) {
	switch {
	case c.Exception != "":
		return exception(c.Exception)
	case strings.HasPrefix(c.CRC32, "bad"):
		return exception("ChecksumError")
	case c.CRC32 != "":
		return nil, nil
	}
	return serviceError(c.Status, c.Code, ""), nil
}

func botocorePolicy(service string) retry.Policy { return awspreset.BotocoreLegacy.Policy(service) }

func checkBotocoreClass(c botocoreClass) error {
	failed, err := c.failure()
	if err != nil {
		return err
	}
	p := botocorePolicy(c.Service)
	if c.Attempt == 0 {
		_, err := checkClass(p.Classifier, failed, c.Retryable)
		return err
	}
	r := play(p, []error{failed}, retrytest.Fixed(onlyRandom(c.Random)))
	if err := mustBe("whether attempt "+strconv.Itoa(c.Attempt)+" is retried", len(r.waits) >= c.Attempt, c.Retryable); err != nil {
		return err
	}
	if c.DelayS != nil {
		if err := agree(r.waits[c.Attempt-1], *c.DelayS, time.Second, wholeNanosecond); err != nil {
			return err
		}
	}
	if c.MaxReached != nil {
		err = mustBe("whether attempt "+strconv.Itoa(c.Attempt)+" was the last", errors.Is(r.err, retry.ErrMaxAttempts) && c.Attempt >= r.attempts, *c.MaxReached)
	}
	return errors.Join(err, r.ended(failed == nil))
}

type botocoreExec struct {
	Service   string
	Operation string
	Config    struct {
		Retries struct {
			MaxAttempts      *int `json:"max_attempts"`
			TotalMaxAttempts *int `json:"total_max_attempts"`
		}
	}
	Env           map[string]string
	QuotaBefore   *float64 `json:"quota_before"`
	Responses     []response
	Random        []float64
	Attempts      int
	SleepsS       []number `json:"sleeps_s"`
	OK            bool
	RetryAttempts *int     `json:"retry_attempts"`
	MaxReached    bool     `json:"max_attempts_reached"`
	QuotaReached  bool     `json:"retry_quota_reached"`
	QuotaAfter    *float64 `json:"quota_after"`
}

func checkBotocoreExec(preset awspreset.Preset) func(botocoreExec) error {
	return func(c botocoreExec) error {
		p := preset.Policy(c.Service)
		retries := c.Config.Retries
		switch env := c.Env["AWS_MAX_ATTEMPTS"]; {
		case retries.TotalMaxAttempts != nil:
			p.MaxAttempts = *retries.TotalMaxAttempts
		case retries.MaxAttempts != nil:
			p.MaxAttempts = *retries.MaxAttempts + 1
		case env != "":
			n, err := strconv.Atoi(env)
			if err != nil {
				return err
			}
			p.MaxAttempts = n
		}
		p.LongPoll = preset == awspreset.BotocoreStandard2026Preview && isLongPoll(c.Operation)
		if c.QuotaBefore != nil {
			fill(p.Budget, *c.QuotaBefore)
		}
		badChecksum := ""
		if c.Service == "dynamodb" {
			badChecksum = "ChecksumError"
		}
		script, err := scriptOf(c.Responses, badChecksum, "", pythonHint)
		if err != nil {
			return err
		}
		r := play(p, script, recorded(c.Random, 0, p.MaxAttempts))
		if n := c.RetryAttempts; n != nil {
			err = mustBe("number of retries", r.attempts-1, *n)
		}
		err = errors.Join(err, c.checkFlags(p, r))
		if c.OK && r.last == exceptions["ChecksumError"] {
			// In the end, the standard mode returns the bad response as a success.
			c.OK = false
			p.Budget.Deposit(failedWith(retry.ClassTransient), true)
		}
		if c.QuotaAfter != nil && p.Budget != nil {
			err = errors.Join(err, mustBe("balance after the call", balance(p), *c.QuotaAfter))
		}
		return errors.Join(
			err,
			mustBe("number of attempts", r.attempts, c.Attempts),
			agreeAll(r.waits, c.SleepsS, time.Second),
			r.ended(c.OK),
		)
	}
}

// checkFlags checks the flags in the last response's metadata. The standard modes set a
// flag even if the last allowed attempt succeeded; exceptions have no flags.
func (c botocoreExec) checkFlags(p retry.Policy, r playback) error {
	last := c.Responses[min(r.attempts, len(c.Responses))-1]
	switch {
	case !c.OK && (last.Exception != "" || r.last == exceptions["ChecksumError"]):
		return mustBe("whether an exception has flags", c.MaxReached || c.QuotaReached, false)
	case r.err == nil:
		return mustBe("whether a success has flags", c.MaxReached || c.QuotaReached, p.Budget != nil && r.attempts == p.MaxAttempts)
	}
	return r.gaveUp(c.MaxReached, c.QuotaReached)
}

// pythonHint reads x-amz-retry-after as Python's int() does, which accepts signs, spaces,
// underscores and the digits of all scripts.
func pythonHint(headers map[string]string) time.Duration {
	var digits strings.Builder
	for _, r := range strings.TrimSpace(headers["x-amz-retry-after"]) {
		switch {
		case unicode.IsDigit(r):
			zero := r
			for unicode.IsDigit(zero-1) && r-zero < 9 {
				zero--
			}
			digits.WriteByte(byte('0' + r - zero))
		case r != '_':
			digits.WriteRune(r)
		}
	}
	hint := wholeHint(digits.String(), milliseconds)
	if n, ok := new(big.Int).SetString(digits.String(), 10); ok && n.Sign() > 0 && !n.IsInt64() {
		hint = math.MaxInt64 // Python's integers are unbounded
	}
	return hint
}

type botocoreStandardDelay struct {
	Attempt     int
	Service     string
	Throttling  bool
	Random      []float64
	MaxBackoffS *number `json:"max_backoff_s"`
	XRetryAfter *string `json:"x_amz_retry_after"`
	DelayS      number  `json:"delay_s"`
	Error       string
}

func checkBotocoreStandardDelay(preset awspreset.Preset) func(botocoreStandardDelay) error {
	return func(c botocoreStandardDelay) error {
		p := preset.Policy(strings.ReplaceAll(c.Service, "-", ""))
		a := retry.Attempt{Number: c.Attempt, Verdict: retry.Verdict{Class: classOf(c.Throttling)}}
		if c.MaxBackoffS != nil {
			p.Backoff = withCap(p.Backoff, a.Class, c.MaxBackoffS.times(time.Second))
		}
		hint := time.Duration(0)
		if c.XRetryAfter != nil {
			hint = pythonHint(map[string]string{"x-amz-retry-after": *c.XRetryAfter})
		}
		got := afterHint(p, a, onlyRandom(c.Random), hint)
		switch c.Error {
		case "":
			return agree(got, c.DelayS, time.Second, wholeNanosecond)
		case "OverflowError":
			// 2 ** 1024 overflows in Python; here the ceiling is the cap.
			return agree(got, number(20*onlyRandom(c.Random)), time.Second, wholeNanosecond)
		}
		return fmt.Errorf("unknown error %q", c.Error)
	}
}

func withCap(b retry.Backoff, class retry.Class, limit time.Duration) retry.Backoff {
	if by, ok := b.(retry.WhenThrottled); ok {
		b = by.Else
		if class == retry.ClassThrottled {
			b = by.Throttled
		}
	}
	rule := reflect.New(reflect.TypeOf(b)).Elem()
	rule.Set(reflect.ValueOf(b))
	rule.FieldByName("Cap").SetInt(int64(limit))
	return rule.Interface().(retry.Backoff)
}

type botocoreStandardClass struct {
	Service     string
	Status      *int
	Code        *string
	Exception   string
	CRC32       string
	Retryable   bool
	Throttling  bool
	TimeoutCost *bool `json:"timeout_cost"`
	Shape       *struct {
		Name     string
		Metadata struct {
			Retryable *struct{ Throttling bool }
			Error     struct{ Code string }
		}
	} `json:"modeled_shape"`
}

// modeled is an error that is retryable in the SDK's model.
type modeled struct{ error }

func (e modeled) Unwrap() error { return e.error }

func (e modeled) RetryableError() bool { return true }

func checkBotocoreStandardClass(presets ...awspreset.Preset) func(botocoreStandardClass) error {
	return func(c botocoreStandardClass) error { return c.check(presets) }
}

func (c botocoreStandardClass) check(presets []awspreset.Preset) error {
	failed, err := botocoreClass{Status: c.Status, Code: c.Code, Exception: c.Exception, CRC32: c.CRC32}.failure()
	if err != nil {
		return err
	}
	if failed == nil {
		return mustBe("whether a good response is retryable", c.Retryable, false)
	}
	if s := c.Shape; s != nil && s.Metadata.Retryable != nil && *c.Code == cmp.Or(s.Metadata.Error.Code, s.Name) {
		if failed = (modeled{failed}); s.Metadata.Retryable.Throttling {
			failed = retry.Throttled(failed)
		}
	}
	for _, preset := range presets {
		class := preset.Policy(c.Service).Classify(failed).Class
		if preset == awspreset.Standard2026 && c.onlyInBotocore() {
			err = errors.Join(err, mustBe("whether Standard2026 differs", class != retry.ClassPermanent, !c.Retryable))
			continue
		}
		err = errors.Join(err,
			mustBe("whether it is retryable", class != retry.ClassPermanent, c.Retryable),
			mustBe("whether it is throttled", class == retry.ClassThrottled, c.Throttling))
		if c.TimeoutCost != nil {
			err = errors.Join(err, mustBe("whether it is a timeout", class == retry.ClassTimeout, *c.TimeoutCost))
		}
	}
	return err
}

// onlyInBotocore reports whether other SDKs decide the case differently: botocore retries
// every error of an HTTP client, but not two service-specific codes.
func (c botocoreStandardClass) onlyInBotocore() bool {
	switch {
	case c.Retryable:
		return c.Exception == "SSLError" || c.Exception == "HTTPClientError" || c.Exception == "ResponseStreamingError" || c.CRC32 == "bad"
	case c.Code == nil:
		return false
	}
	return c.Service == "sts" && *c.Code == "IDPCommunicationErrorException" || c.Service == "dynamodb" && *c.Code == "ReplicatedWriteConflictException"
}

type botocoreQuota struct {
	Initial float64 `json:"initial_and_max"`
	Steps   []struct {
		Op        string
		Status    int    `json:"http_status"`
		Error     string // the failure before the retry
		Granted   bool
		Available float64
	}
}

func checkBotocoreQuota(preset awspreset.Preset) func(botocoreQuota) error {
	return func(c botocoreQuota) error {
		like := tokens(preset.Policy("").Budget)
		b := &retry.TokenBudget{Capacity: c.Initial, Costs: like.Costs, SuccessOnly: like.SuccessOnly}
		classes := map[string]retry.Class{
			"500": retry.ClassTransient, "throttle": retry.ClassThrottled,
			"read_timeout": retry.ClassTimeout, "connect_timeout": retry.ClassTimeout, "conn_error": retry.ClassTransient,
		}
		paid := retry.Attempt{}
		for i, s := range c.Steps {
			var err error
			switch s.Op {
			case "acquire":
				class, ok := classes[s.Error]
				if !ok {
					return fmt.Errorf("unknown error %q", s.Error)
				}
				failed := failedWith(class)
				granted := b.TryWithdraw(failed)
				if granted {
					paid = failed
				}
				err = mustBe("whether the retry is granted", granted, s.Granted)
			case "call_end":
				if s.Status/100 == 2 {
					b.Deposit(paid, true)
				}
				paid = retry.Attempt{}
			default:
				err = fmt.Errorf("unknown step %q", s.Op)
			}
			if err = errors.Join(err, mustBe("balance", b.Balance(), s.Available)); err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
		}
		return nil
	}
}
