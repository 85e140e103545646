package awspreset_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// The checks of the golden vectors of the SDKs' standard modes. What they
// share with those of the older modes is in preset_test.go.

// hinted is an error of a service that says when to come back.
type hinted struct {
	error
	after time.Duration
}

func (e hinted) Unwrap() error             { return e.error }
func (e hinted) RetryAfter() time.Duration { return e.after }

func withHint(err error, after time.Duration) error {
	if after <= 0 {
		return err
	}
	return hinted{err, after}
}

// A dialect reads a hint from headers as an SDK does; 0: none.
type dialect func(headers map[string]string) time.Duration

func noHint(map[string]string) time.Duration { return 0 }

// pythonHint reads x-amz-retry-after with int(), which takes signs, spaces,
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
		hint = math.MaxInt64 // Python's numbers have no end
	}
	return hint
}

// goHint reads x-amz-retry-after with strconv.ParseInt and turns it into
// nanoseconds without a look at what an int64 can hold.
func goHint(headers map[string]string) time.Duration {
	return wholeHint(headers["x-amz-retry-after"], func(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond })
}

// wholeHint reads a whole number, which no SDK takes if it is negative.
func wholeHint(text string, unit func(int64) time.Duration) time.Duration {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return unit(n)
}

// jsHint reads x-amz-retry-after or Retry-After with Number().
func jsHint(headers map[string]string) time.Duration {
	for name, unit := range map[string]time.Duration{"x-amz-retry-after": time.Millisecond, "retry-after": time.Second} {
		if x, err := strconv.ParseFloat(headers[name], 64); err == nil {
			return number(x).times(unit)
		}
	}
	return 0
}

func isLongPoll(operation string) bool {
	switch strings.ToLower(strings.ReplaceAll(operation, "_", "")) {
	case "receivemessage", "getactivitytask", "pollforactivitytask", "pollfordecisiontask":
		return true
	}
	return false
}

// fill brings a budget to a balance.
func fill(b retry.Budget, to float64) {
	p := retry.Policy{Budget: b}
	for balance(p) > to && b.TryWithdraw(retry.Attempt{Number: 1, Class: retry.ClassThrottled}) {
	}
	for before := -1.0; balance(p) < to && balance(p) > before; {
		before = balance(p)
		b.Deposit(retry.ClassUnknown, true)
	}
}

// tokens returns the bucket in a budget of a preset.
func tokens(b retry.Budget) *retry.TokenBudget {
	if bucket, ok := b.(*retry.TokenBudget); ok {
		return bucket
	}
	return reflect.ValueOf(b).FieldByName("TokenBudget").Interface().(*retry.TokenBudget)
}

func classOf(throttling bool) retry.Class {
	if throttling {
		return retry.ClassThrottled
	}
	return retry.ClassTransient
}

// afterHint is the policy's wait after a failed attempt.
func afterHint(p retry.Policy, a retry.Attempt, u float64, hint time.Duration) time.Duration {
	delay := p.Backoff.Delay(a, u)
	if hint > 0 {
		delay, _ = p.Hint.Wait(delay, hint)
	}
	return delay
}

// botocore.

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
		a := retry.Attempt{Number: c.Attempt, Class: classOf(c.Throttling)}
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
			// Python cannot make a float of 2 ** 1024; here the ceiling is the cap.
			return agree(got, number(20*onlyRandom(c.Random)), time.Second, wholeNanosecond)
		}
		return fmt.Errorf("unknown error %q", c.Error)
	}
}

// withCap is a preset's rule with the cap that a user of the SDK has set.
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

// modeled is an error whose description says that it is worth a retry.
type modeled struct{ error }

func (e modeled) Unwrap() error        { return e.error }
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
		return mustBe("whether a good answer is retryable", c.Retryable, false)
	}
	if s := c.Shape; s != nil && s.Metadata.Retryable != nil && *c.Code == cmp.Or(s.Metadata.Error.Code, s.Name) {
		if failed = (modeled{failed}); s.Metadata.Retryable.Throttling {
			failed = retry.Throttled(failed)
		}
	}
	for _, preset := range presets {
		class := preset.Policy(c.Service).Classify(failed).Class
		if preset == awspreset.Standard2026 && c.isBotocores() {
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

// isBotocores reports whether botocore differs from what the SDKs have in
// common: it retries all that an HTTP client reports, and not two codes of
// single services.
func (c botocoreStandardClass) isBotocores() bool {
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
		Error     string // what the retry to pay for follows
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
		paid := retry.ClassUnknown
		for i, s := range c.Steps {
			var err error
			switch s.Op {
			case "acquire":
				class, ok := classes[s.Error]
				if !ok {
					return fmt.Errorf("unknown error %q", s.Error)
				}
				granted := b.TryWithdraw(retry.Attempt{Number: 1, Class: class})
				if granted {
					paid = class
				}
				err = mustBe("whether the retry is granted", granted, s.Granted)
			case "call_end":
				if s.Status/100 == 2 {
					b.Deposit(paid, true)
				}
				paid = retry.ClassUnknown
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

// JavaScript v3.

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
				return checkWhole(c) // the SDK had no such base then, but the function takes it
			}
		}
		got := preset.Policy(service).Backoff.Delay(afterRetry(c.Retry, classOf(c.Throttling)), onlyRandom(c.Random))
		return mustBe("delay", got, milliseconds(c.DelayMS))
	}
}

// checkWhole checks the rule with a base of its own.
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
		return errors.New("stream error: stream ID 1; REFUSED_STREAM"), nil // as net/http has it
	case c.NodeCode != "":
		err, e := exception(c.NodeCode)
		if c.Wrapped && e == nil {
			err = fmt.Errorf("wrapped: %w", err)
		}
		return err, e
	case c.Exception == "TypeError" && c.Message != "other":
		return exception("fetch") // what browsers say when they cannot connect
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
			failed = retry.Transient(failed) // the SDK marks an error itself once it has set its clock
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

// waits returns the waits after the step. Releases before 2026 leave the wait to
// the caller of the function.
func (s jsQuotaStep) waits() []number {
	if s.TokenDelayMS == 0 {
		return s.SleptMS
	}
	return append(slices.Clone(s.SleptMS), s.TokenDelayMS)
}

func (s jsQuotaStep) failure() error {
	status := map[string]int{"TRANSIENT": 500, "THROTTLING": 429, "SERVER_ERROR": 501, "CLIENT_ERROR": 400}[s.ErrorType]
	return withHint(serviceError(&status, nil, ""), s.RetryAfterMS.times(time.Millisecond))
}

// checkJSQuota runs each operation of a trace as a call.
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

// checkJSOperation plays the failures of an operation, followed by a permanent
// one unless it has succeeded. So the policy and not the trace decides how many
// attempts there are.
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
	if last.Outcome == "retry" { // the trace ends within the operation
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

// jsHandler is the function of JavaScript v2 that fetches credentials, which
// adds the server's hint to the delay. Its rules are not those of a preset:
// the caller says which errors are worth a retry.
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

// hintPlus waits for the hint and then for the delay, as lib/event_listeners.js does.
type hintPlus struct{}

func (hintPlus) Wait(delay, hint time.Duration) (time.Duration, bool) { return delay + hint, true }

func checkJSHandler(c jsHandler) error {
	p := retry.Policy{MaxAttempts: c.Options.MaxRetries + 1, Hint: hintPlus{}}
	base := 100 * time.Millisecond
	if c.Options.RetryDelayOptions.Base != nil {
		base = c.Options.RetryDelayOptions.Base.times(time.Millisecond)
	}
	if strings.Contains(c.Version, "2.563") {
		base *= 2 // it counted the retry before it computed the delay
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

// parseIntHint reads the number that the text begins with, as parseInt does.
func parseIntHint(text string) time.Duration {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	return wholeHint(text[:end], func(s int64) time.Duration { return time.Duration(s) * time.Second })
}

// Go v2.

type goDelay struct {
	Attempt      int   `json:"sdk_attempt_arg"`
	Retry        int64 // -1 in the numbering before 2026: never asked for
	Service      string
	Throttling   bool
	MaxBackoffNS int64   `json:"max_backoff_ns"`
	XRetryAfter  *string `json:"x_amz_retry_after"`
	Random       []float64
	DelayNS      number `json:"delay_ns"`
}

func checkGoDelay(preset awspreset.Preset) func(goDelay) error {
	return func(c goDelay) error {
		p := preset.Policy(c.Service)
		a := afterRetry(c.Retry, classOf(c.Throttling))
		if preset == awspreset.GoV2Standard {
			a.Number = c.Attempt
		}
		p.Backoff = withCap(p.Backoff, a.Class, time.Duration(c.MaxBackoffNS))
		hint := time.Duration(0)
		if c.XRetryAfter != nil {
			hint = goHint(map[string]string{"x-amz-retry-after": *c.XRetryAfter})
		}
		return agree(afterHint(p, a, onlyRandom(c.Random), hint), c.DelayNS, 1, wholeNanosecond)
	}
}

type goClass struct {
	Status     *int
	Code       *string
	Exception  string
	Retryable  bool
	Throttling bool
	Timeout    bool
}

// Errors that answer with one method.
type (
	timeoutSays    bool
	temporarySays  bool
	retryableSays  bool
	connectionSays bool
)

func (timeoutSays) Error() string              { return "failure by script" }
func (e timeoutSays) Timeout() bool            { return bool(e) }
func (temporarySays) Error() string            { return "failure by script" }
func (e temporarySays) Temporary() bool        { return bool(e) }
func (retryableSays) Error() string            { return "failure by script" }
func (e retryableSays) RetryableError() bool   { return bool(e) }
func (connectionSays) Error() string           { return "failure by script" }
func (e connectionSays) ConnectionError() bool { return bool(e) }

// goExceptions are the errors of a Go program by their names in the vectors.
var goExceptions = map[string]error{
	"context.Canceled":                       errors.New("context canceled"),
	"context.DeadlineExceeded":               os.ErrDeadlineExceeded, // the same two methods
	"aws.RequestCanceledError":               cancelled{},
	"CanceledError() true":                   cancelled{},
	"io.EOF":                                 io.EOF,
	"io.ErrUnexpectedEOF":                    io.ErrUnexpectedEOF,
	"plain":                                  errors.New("failure by script"),
	"text: connection reset by peer":         errors.New("connection reset by peer"),
	"text: use of closed network connection": errors.New("use of closed network connection"),
	"url.Error connection refused":           requestError(errors.New("connection refused")),
	"url.Error io.EOF":                       requestError(io.EOF),
	"url.Error timeout":                      requestError(timeoutSays(true)),
	"net.OpError dial":                       dialError(errors.New("failure by script")),
	"net.OpError read plain":                 readError(errors.New("failure by script")),
	"net.OpError read timeout":               readError(timeoutSays(true)),
	"net.DNSError not found":                 &net.DNSError{IsNotFound: true},
	"net.OpError dial + DNSError not found":  dialError(&net.DNSError{IsNotFound: true}),
	"net.DNSError temporary":                 &net.DNSError{IsTemporary: true},
	"net.DNSError timeout":                   &net.DNSError{IsTimeout: true},
	"net.DNSError other":                     &net.DNSError{},
	"Timeout() true":                         timeoutSays(true),
	"Temporary() true":                       temporarySays(true),
	"Timeout/Temporary false":                errors.Join(timeoutSays(false), temporarySays(false)),
	"RetryableError() true":                  retryableSays(true),
	"RetryableError() false":                 retryableSays(false),
	"smithyhttp.RequestSendError":            connectionSays(true),
	"smithyhttp.RequestSendError + canceled": errors.Join(connectionSays(true), cancelled{}),
	"wrapped Throttling":                     fmt.Errorf("wrapped: %w", errorOfCode("Throttling")),
	"timeout":                                timeoutSays(true),
	"connection reset":                       errors.New("connection reset"),
}

func checkGoClass(c goClass) error {
	failed := serviceError(c.Status, c.Code, "")
	if c.Exception != "" {
		if failed = goExceptions[c.Exception]; failed == nil {
			return fmt.Errorf("no error for %q in the table", c.Exception)
		}
	}
	var err error
	for _, preset := range []awspreset.Preset{awspreset.GoV2Standard, awspreset.GoV2Adaptive2026} {
		class := preset.Policy("").Classifier.Classify(failed)
		err = errors.Join(err,
			mustBe("whether it is retryable", class != retry.ClassPermanent, c.Retryable),
			mustBe("whether it is throttled", class == retry.ClassThrottled, c.Throttling))
		if c.Retryable {
			err = errors.Join(err, mustBe("whether it is a timeout", class == retry.ClassTimeout, c.Timeout))
		}
	}
	return err
}

type goExec struct {
	Name        string
	Random      float64 `json:"random_constant"`
	LongPoll    bool    `json:"long_poll"`
	QuotaBefore float64 `json:"quota_before"`
	Calls       []struct {
		Responses     []response
		Attempts      int
		OK            bool
		MaxReached    bool      `json:"max_attempts_error"`
		QuotaExceeded bool      `json:"quota_exceeded"`
		QuotaAtSend   []float64 `json:"quota_seen_at_each_send"`
		QuotaAfter    float64   `json:"quota_after"`
		SleptNS       []number  `json:"slept_ns"`
	}
}

func checkGoExec(standard, adaptive awspreset.Preset) func(goExec) error {
	return func(c goExec) error {
		preset, service := standard, ""
		if strings.HasPrefix(c.Name, "adaptive") {
			preset = adaptive
		}
		if strings.HasPrefix(c.Name, "dynamodb") {
			service = "dynamodb"
		}
		p := preset.Policy(service)
		p.Limiter = nil // as in checkJavaExec
		p.LongPoll = c.LongPoll && standard == awspreset.GoV2Standard2026
		if _, n, ok := strings.Cut(c.Name, "max attempts "); ok {
			n, _, _ = strings.Cut(n, ",")
			p.MaxAttempts, _ = strconv.Atoi(n)
		}
		if c.Name == "long poll at max attempts" {
			p.MaxAttempts = 1
		}
		fill(p.Budget, c.QuotaBefore)
		for i, call := range c.Calls {
			script, err := goScript(call.Responses)
			if err != nil {
				return err
			}
			r := play(p, script, recorded(nil, c.Random, p.MaxAttempts))
			if !slices.Equal(r.balances, call.QuotaAtSend) {
				err = fmt.Errorf("balances at each attempt are %v, want %v", r.balances, call.QuotaAtSend)
			}
			if err := errors.Join(
				err,
				mustBe("number of attempts", r.attempts, call.Attempts),
				agreeAll(r.waits, call.SleptNS, 1),
				mustBe("balance after the call", balance(p), call.QuotaAfter),
				r.ended(call.OK),
				r.gaveUp(call.MaxReached, call.QuotaExceeded),
			); err != nil {
				return fmt.Errorf("call %d: %w", i+1, err)
			}
		}
		return nil
	}
}

func goScript(responses []response) (script []error, err error) {
	for _, r := range responses {
		var failed error
		switch {
		case r.NetworkError != "":
			if failed = goExceptions[r.NetworkError]; failed == nil {
				return nil, fmt.Errorf("no error for %q in the table", r.NetworkError)
			}
		case *r.Status >= 300:
			failed = withHint(serviceError(r.Status, r.Code, ""), goHint(r.Headers))
		}
		script = append(script, failed)
	}
	return script, nil
}

// Java.

type javaHistoric struct {
	Variant    string
	Service    string
	Retry      int64
	Throttling bool
	Random     []float64
	DelayMS    int64 `json:"delay_ms"`
}

// checkJavaHistoric builds the rules of old releases from those of today.
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
