package awspreset_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

type jsDelay struct {
	Retry   int64
	Random  []float64
	BaseMS  number `json:"base_ms"`
	DelayMS number `json:"delay_ms"`
}

func checkJSDelay(service string) func(jsDelay) error {
	return func(c jsDelay) error {
		got := jsBackoff(awspreset.JavaScriptV2.Policy(service), c.BaseMS).Delay(afterRetry(c.Retry, retry.ClassTransient), onlyRandom(c.Random))
		return agree(got, c.DelayMS, time.Millisecond, wholeNanosecond)
	}
}

func jsBackoff(p retry.Policy, baseMS number) retry.Backoff {
	if b, ok := p.Backoff.(retry.FullJitter); ok && b.Base == baseMS.times(time.Millisecond) {
		return p.Backoff
	}
	return retry.FullJitter{Base: baseMS.times(time.Millisecond)}
}

type jsClass struct {
	Service    string
	Status     *int
	Code       *string
	Message    string
	Retryable  bool
	Throttling *bool
	Timeout    bool
	ClockSkew  bool `json:"clock_skew"`
}

func checkJSClass(c jsClass) error {
	classifier := awspreset.Classifier{Preset: awspreset.JavaScriptV2, Service: strings.ReplaceAll(c.Service, "rdsdata", "rds-data")}
	failed := serviceError(c.Status, c.Code, c.Message)
	class, err := checkClass(classifier, failed, c.Retryable)
	if err != nil {
		return err
	}
	if err := checkThrottled(class, c.Throttling); err != nil {
		return err
	}
	if c.Timeout && class != retry.ClassThrottled {
		if err := mustBe("class", class, retry.ClassTimeout); err != nil {
			return err
		}
	}
	classifier.CorrectsClockSkew = true
	_, err = checkClass(classifier, failed, c.Retryable || c.ClockSkew)
	return err
}

type jsExec struct {
	Name    string
	Service string
	Config  struct {
		MaxRetries        *int
		CorrectClockSkew  bool
		DynamoDBCrc32     *bool `json:"dynamoDbCrc32"`
		RetryDelayOptions struct {
			Base          *number
			CustomBackoff any
		}
	}
	Responses []response
	Random    []float64
	Attempts  int
	DelaysMS  []number `json:"delays_ms"`
	OK        bool
}

func checkJSExec(c jsExec) error {
	p, badChecksum := awspreset.JavaScriptV2.Policy(c.Service), ""
	if c.Service == "dynamodb" {
		if c.Config.DynamoDBCrc32 == nil || *c.Config.DynamoDBCrc32 {
			badChecksum = "CRC32CheckFailed"
		}
	}
	classifier := p.Classifier.(awspreset.Classifier)
	classifier.RenewsCredentials = true // as the SDK does between attempts
	classifier.CorrectsClockSkew = c.Config.CorrectClockSkew
	p.Classifier = classifier
	if n := c.Config.MaxRetries; n != nil {
		p.MaxAttempts = *n + 1
	}
	switch options := c.Config.RetryDelayOptions; {
	case options.CustomBackoff != nil:
		p.Backoff = c.customBackoff()
	case options.Base != nil:
		p.Backoff = jsBackoff(p, *options.Base)
	}
	message := ""
	if strings.Contains(c.Name, "Signature expired") {
		message = "Signature expired" // a trace contains its error message only in its name
	}
	script, err := scriptOf(c.Responses, badChecksum, message, noHint)
	if err != nil {
		return err
	}
	// The SDK also draws a random number for errors that it does not retry, so some of the
	// numbers may be left over.
	r := play(p, script, recorded(c.Random, 0, p.MaxAttempts))
	return errors.Join(
		mustBe("number of attempts", r.attempts, c.Attempts),
		agreeAll(r.waits, c.DelaysMS, time.Millisecond),
		r.ended(c.OK),
	)
}

var (
	customStep   = regexp.MustCompile(`customBackoff (\d+)\*\(n\+1\)`)
	customResult = regexp.MustCompile(`customBackoff returns (\S+)`)
)

// customBackoff is the user's function described by the name of the trace. An unknown
// function replays the recorded delays.
func (c jsExec) customBackoff() retry.Backoff {
	if m := customStep.FindStringSubmatch(c.Name); m != nil {
		step, _ := strconv.Atoi(m[1])
		return retry.Linear{Base: time.Duration(step) * time.Millisecond}
	}
	if m := customResult.FindStringSubmatch(c.Name); m != nil {
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil || math.IsNaN(x) {
			x = 0 // the SDK treats undefined and NaN as 0
		}
		return retry.Constant(number(x).times(time.Millisecond))
	}
	var s retry.Schedule
	for _, d := range c.DelaysMS {
		s = append(s, d.times(time.Millisecond))
	}
	return s
}

// jsHint parses the hint's headers as JavaScript's Number() does.
func jsHint(headers map[string]string) time.Duration {
	for name, unit := range map[string]time.Duration{"x-amz-retry-after": time.Millisecond, "retry-after": time.Second} {
		if x, err := strconv.ParseFloat(headers[name], 64); err == nil {
			return number(x).times(unit)
		}
	}
	return 0
}

type jsDelayV3 struct {
	Retry      int64
	Throttling bool
	BaseMS     int64 `json:"base_ms"`
	Random     []float64
	DelayMS    int64 `json:"delay_ms"`
}

func checkJSDelayV3(preset awspreset.Preset) func(jsDelayV3) error {
	return func(c jsDelayV3) error {
		service := ""
		if c.BaseMS == 25 {
			if service = "dynamodb"; preset != awspreset.JavaScriptV3Standard2026 {
				return checkWhole(c) // no mode uses this base, but the SDK's backoff function accepts it
			}
		}
		got := preset.Policy(service).Backoff.Delay(afterRetry(c.Retry, classOf(c.Throttling)), onlyRandom(c.Random))
		return mustBe("delay", got, milliseconds(c.DelayMS))
	}
}

func checkWhole(c jsDelayV3) error {
	rule := awspreset.WholeFull(time.Duration(c.BaseMS)*ms, 20*time.Second)
	return mustBe("delay", rule.Delay(afterRetry(c.Retry, classOf(c.Throttling)), onlyRandom(c.Random)), milliseconds(c.DelayMS))
}

type jsClassV3 struct {
	Status    *int
	Code      *string
	NodeCode  string `json:"node_code"`
	Wrapped   bool   `json:"wrapped_in_cause"`
	Exception string
	Message   string
	Modeled   *struct{ Throttling bool } `json:"modeled_retryable"`
	Corrected bool                       `json:"clock_skew_corrected"`
	ErrorType string                     `json:"error_type"`
	Retryable bool
}

func (c jsClassV3) failure() (error, error) {
	switch {
	case strings.Contains(c.Message, "REFUSED_STREAM"):
		return errors.New("stream error: stream ID 1; REFUSED_STREAM"), nil // the text of net/http
	case c.NodeCode != "":
		err, e := exception(c.NodeCode)
		if c.Wrapped && e == nil {
			err = fmt.Errorf("wrapped: %w", err)
		}
		return err, e
	case c.Exception == "TypeError" && c.Message != "other":
		return exception("fetch")
	case c.Exception != "":
		return errors.New(c.Message), nil
	}
	return serviceError(c.Status, c.Code, c.Message), nil
}

func checkJSClassV3(preset awspreset.Preset) func(jsClassV3) error {
	return func(c jsClassV3) error {
		failed, err := c.failure()
		if err != nil {
			return err
		}
		if c.Modeled != nil {
			if failed = (modeled{failed}); c.Modeled.Throttling {
				failed = retry.Throttled(failed)
			}
		}
		if c.Corrected {
			failed = retry.Transient(failed) // the SDK marks the error after correcting its clock
		}
		class := preset.Policy("").Classify(failed).Class
		return errors.Join(
			mustBe("whether it is retryable", class != retry.ClassPermanent, c.Retryable),
			mustBe("whether it is throttled", class == retry.ClassThrottled, c.ErrorType == "THROTTLING"),
		)
	}
}

type jsQuota struct {
	MaxAttempts int `json:"max_attempts"`
	Steps       []jsQuotaStep
}

type jsQuotaStep struct {
	Operation    int
	Event        string
	ErrorType    string `json:"error_type"`
	Random       []float64
	RetryAfterMS number `json:"retry_after_ms"`
	LongPoll     bool   `json:"long_poll"`
	Outcome      string
	TokenDelayMS number   `json:"token_delay_ms"`
	SleptMS      []number `json:"slept_ms"`
	Capacity     float64
}

func (s jsQuotaStep) waits() []number {
	// Before 2026, the function's caller waits.
	if s.TokenDelayMS == 0 {
		return s.SleptMS
	}
	return append(slices.Clone(s.SleptMS), s.TokenDelayMS)
}

func (s jsQuotaStep) failure() error {
	status := map[string]int{"TRANSIENT": 500, "THROTTLING": 429, "SERVER_ERROR": 501, "CLIENT_ERROR": 400}[s.ErrorType]
	return withHint(serviceError(&status, nil, ""), s.RetryAfterMS.times(time.Millisecond))
}

func checkJSQuota(preset awspreset.Preset) func(jsQuota) error {
	return func(c jsQuota) error {
		p := preset.Policy("")
		p.MaxAttempts = c.MaxAttempts
		for len(c.Steps) > 0 {
			operation := c.Steps[0].Operation
			n := slices.IndexFunc(c.Steps, func(s jsQuotaStep) bool { return s.Operation != operation })
			if n < 0 {
				n = len(c.Steps)
			}
			if err := checkJSOperation(p, preset == awspreset.JavaScriptV3Standard2026, c.Steps[:n]); err != nil {
				return fmt.Errorf("operation %d: %w", operation, err)
			}
			c.Steps = c.Steps[n:]
		}
		return nil
	}
}

// checkJSOperation plays an operation, adding a permanent failure unless the operation
// succeeded, so the policy and not the trace decides the number of attempts.
func checkJSOperation(p retry.Policy, since2026 bool, steps []jsQuotaStep) error {
	var script []error
	var random []float64
	var waits []number
	var balances []float64
	for i, s := range steps {
		if s.Event == "success" {
			script = append(script, nil)
		} else {
			script = append(script, s.failure())
		}
		if i < len(steps)-1 && (s.Event != "error" || s.Outcome != "retry") {
			return fmt.Errorf("step %d of %d is %s %s", i+1, len(steps), s.Event, s.Outcome)
		}
		p.LongPoll = p.LongPoll || s.LongPoll && since2026
		random = append(random, s.Random...)
		waits = append(waits, s.waits()...)
		balances = append(balances, s.Capacity)
	}
	last, attempts := steps[len(steps)-1], len(steps)
	if last.Event != "success" {
		script = append(script, retry.Permanent(errors.New("the trace ends here")))
	}
	if last.Outcome == "retry" { // the trace ends during the operation
		attempts++
	}
	r := play(p, script, recorded(random, 0, p.MaxAttempts))
	retryable := last.Outcome == "refused" && (last.ErrorType == "TRANSIENT" || last.ErrorType == "THROTTLING")
	maxReached := retryable && len(steps) == p.MaxAttempts
	return errors.Join(
		mustBe("number of attempts", r.attempts, attempts),
		mustBe("balances", fmt.Sprint(append(r.balances[1:], balance(p))[:len(balances)]), fmt.Sprint(balances)),
		agreeAll(r.waits, waits, time.Millisecond),
		r.ended(last.Event == "success"),
		r.gaveUp(maxReached, retryable && !maxReached),
	)
}

type jsExecV3 struct {
	Service   string
	Operation string
	Config    struct {
		MaxAttempts int
		Drain       any
	}
	Env        map[string]string
	Responses  []response
	Random     []float64
	Attempts   int
	SleptMS    []number `json:"slept_ms"`
	OK         bool
	QuotaAfter float64 `json:"quota_after"`
}

func checkJSExecV3(c jsExecV3) error {
	p := awspreset.JavaScriptV3Standard2026.Policy(c.Service)
	if n, err := strconv.Atoi(c.Env["AWS_MAX_ATTEMPTS"]); err == nil {
		p.MaxAttempts = n
	}
	if c.Config.MaxAttempts != 0 {
		p.MaxAttempts = c.Config.MaxAttempts
	}
	p.LongPoll = isLongPoll(c.Operation)
	switch drain := c.Config.Drain.(type) {
	case bool:
		fill(p.Budget, 0)
	case float64:
		fill(p.Budget, drain)
	}
	script, err := scriptOf(c.Responses, "", "", jsHint)
	if err != nil {
		return err
	}
	r := play(p, script, recorded(c.Random, 0, p.MaxAttempts))
	return errors.Join(
		mustBe("number of attempts", r.attempts, c.Attempts),
		agreeAll(r.waits, c.SleptMS, time.Millisecond),
		mustBe("balance after the call", balance(p), c.QuotaAfter),
		r.ended(c.OK),
	)
}

// jsHandler is the function of JavaScript v2 that fetches credentials. Its rules are in no
// preset: it adds the hint to the delay, and its caller decides which errors are retryable.
type jsHandler struct {
	Version string `json:"sdk_version"`
	Options struct {
		MaxRetries        int
		RetryDelayOptions struct{ Base *number }
	}
	Responses []struct {
		Status    int
		Headers   map[string]string
		NetErr    string
		Retryable bool
	}
	Random   []float64
	Attempts int
	DelaysMS []number `json:"delays_ms"`
	OK       bool
}

// hintPlus adds hint and delay, as lib/event_listeners.js does.
type hintPlus struct{}

func (hintPlus) Wait(delay, hint time.Duration) (time.Duration, bool) { return delay + hint, true }

func checkJSHandler(c jsHandler) error {
	p := retry.Policy{MaxAttempts: c.Options.MaxRetries + 1, Hint: hintPlus{}}
	base := 100 * time.Millisecond
	if c.Options.RetryDelayOptions.Base != nil {
		base = c.Options.RetryDelayOptions.Base.times(time.Millisecond)
	}
	if strings.Contains(c.Version, "2.563") {
		base *= 2 // this version counts the retry before it computes the delay
	}
	p.Backoff = retry.FullJitter{Base: base}
	var script []error
	for _, r := range c.Responses {
		failed := retry.Permanent(serviceError(&r.Status, nil, ""))
		switch {
		case r.NetErr == "TimeoutError", r.Retryable:
			failed = retry.Transient(errors.New(r.NetErr))
		case r.NetErr != "":
		case r.Status < 300:
			failed = nil
		case r.Status >= 500, r.Status == 429:
			failed = withHint(retry.Transient(failed), parseIntHint(r.Headers["retry-after"]))
		}
		script = append(script, failed)
	}
	r := play(p, script, recorded(c.Random, 0, p.MaxAttempts))
	return errors.Join(
		mustBe("number of attempts", r.attempts, c.Attempts),
		agreeAll(r.waits, c.DelaysMS, time.Millisecond),
		r.ended(c.OK),
	)
}

// parseIntHint reads a leading number, as parseInt does.
func parseIntHint(text string) time.Duration {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	return wholeHint(text[:end], func(s int64) time.Duration { return time.Duration(s) * time.Second })
}
