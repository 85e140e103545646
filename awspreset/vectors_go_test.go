package awspreset_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// goHint reads a hint as the SDK does: it converts the hint to nanoseconds without
// checking for overflow.
func goHint(headers map[string]string) time.Duration {
	return wholeHint(headers["x-amz-retry-after"], func(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond })
}

type goDelay struct {
	Attempt      int   `json:"sdk_attempt_arg"`
	Retry        int64 // -1 in the old numbering, unused
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

type (
	timeoutSays    bool
	temporarySays  bool
	retryableSays  bool
	connectionSays bool
)

func (timeoutSays) Error() string { return "failure by script" }

func (e timeoutSays) Timeout() bool { return bool(e) }

func (temporarySays) Error() string { return "failure by script" }

func (e temporarySays) Temporary() bool { return bool(e) }

func (retryableSays) Error() string { return "failure by script" }

func (e retryableSays) RetryableError() bool { return bool(e) }

func (connectionSays) Error() string { return "failure by script" }

func (e connectionSays) ConnectionError() bool { return bool(e) }

var goExceptions = map[string]error{
	"context.Canceled":                       errors.New("context canceled"),
	"context.DeadlineExceeded":               os.ErrDeadlineExceeded, // has the same two methods
	"aws.RequestCanceledError":               canceled{},
	"CanceledError() true":                   canceled{},
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
	"smithyhttp.RequestSendError + canceled": errors.Join(connectionSays(true), canceled{}),
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
		class := preset.Policy("").Classifier.Classify(failed).Class
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
