package awspreset_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/test/vectors"
)

// The sets of vectors/delay, classify, quota and limiter whose sources have presets.
// test/conformance checks those with whole responses: hint and trace.

// presetOf returns the preset that behaves like the source, which is one of a set's sources.
// All sources with retry behavior 2.1 have one.
func presetOf(source string) awspreset.Preset {
	if strings.HasSuffix(source, "-2.1") {
		return awspreset.Standard21
	}
	name := "aws-" + strings.Replace(source, "adaptive", "standard", 1)
	for preset := range awspreset.All() {
		if preset.String() == name {
			return preset
		}
	}
	panic("no preset is like " + source)
}

// policyLike returns the policy that behaves like the source. Its limiter is that of the
// adaptive mode.
func policyLike(source, service string) retry.Policy {
	if source == "java-v2-standard-2.1" && service == awspreset.DynamoDBStreams {
		service = "" // the recorded release treats it like any other service
	}
	p := presetOf(source).Policy(service)
	l := new(awspreset.AdaptiveLimiter)
	if strings.HasPrefix(source, "botocore") {
		l.InitialRate = 1
	}
	p.Limiter = l
	return p
}

// isWhole reports whether a source with retry behavior 2.1 truncates delays to whole
// milliseconds, unlike [awspreset.Standard21].
func isWhole(source string) bool {
	return strings.HasPrefix(source, "java-v2") || strings.HasPrefix(source, "js-v3")
}

// check also requires that every mutant of an answer is noticed.
func check[G any](t *testing.T, set string, ask func(p retry.Policy, source string, given G) any, service func(G) string) vectors.Report {
	t.Helper()
	r := vectors.Check(t, set, func(source string, given G) any {
		return ask(policyLike(source, service(given)), source, given)
	})
	assert.Equal(t, r.Answers.All, r.Answers.Of, "mutants of the answers: %v", r)
	assert.Positive(t, r.Checked)
	return r
}

type delayCase struct {
	Service string
	Attempt int
	Class   string
	Random  float64
}

func (c delayCase) attempt() retry.Attempt {
	return retry.Attempt{Number: c.Attempt, Verdict: retry.Verdict{Class: classNamed(c.Class)}}
}

func classNamed(name string) retry.Class {
	switch name {
	case "transient":
		return retry.ClassTransient
	case "throttled":
		return retry.ClassThrottled
	case "timeout":
		return retry.ClassTimeout
	}
	return retry.ClassUnknown
}

func inMs(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func delayAnswer(p retry.Policy, source string, c delayCase) any {
	delay := p.Backoff.Delay(c.attempt(), c.Random)
	if strings.HasSuffix(source, "-2.1") && isWhole(source) {
		delay = delay.Truncate(time.Millisecond)
	}
	return map[string]float64{"wait_ms": inMs(delay)}
}

func TestDelayVectors(t *testing.T) {
	for _, set := range []string{"delay/aws-standard-2.1", "delay/aws-standard-2.0", "delay/aws-legacy"} {
		t.Run(set, func(t *testing.T) {
			check(t, set, delayAnswer, func(c delayCase) string { return c.Service })
		})
	}
}

type classCase struct {
	Service, Failure string
	Status           *int
	Code             *string
	Message          string
	Wrapped          bool
	Modeled          *struct{ Throttling bool }
}

// modeled is an error that is retryable in the SDK's model.
type modeled struct{ error }

func (e modeled) Unwrap() error { return e.error }

func (e modeled) RetryableError() bool { return true }

// failures are the errors of Go for the failures to get a response.
var failures = map[string]error{
	"reset":                 readError(os.NewSyscallError("read", syscall.ECONNRESET)),
	"refused":               dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
	"closed":                requestError(io.EOF),
	"truncated":             requestError(io.ErrUnexpectedEOF),
	"broken-pipe":           readError(syscall.EPIPE),
	"read-timeout":          readError(os.ErrDeadlineExceeded),
	"connect-timeout":       dialError(os.ErrDeadlineExceeded),
	"host-unreachable":      dialError(syscall.EHOSTUNREACH),
	"network-unreachable":   dialError(syscall.ENETUNREACH),
	"unknown-host":          &net.DNSError{Err: "no such host", Name: "service", IsNotFound: true},
	"temporary-dns":         &net.DNSError{Err: "server misbehaving", Name: "service", IsTemporary: true},
	"untrusted-certificate": requestError(x509.UnknownAuthorityError{}),
	"expired-certificate":   requestError(x509.CertificateInvalidError{Reason: x509.Expired}),
	"proxy-refused":         &net.OpError{Op: "proxyconnect", Net: "tcp", Err: syscall.ECONNREFUSED},
	"broken-stream":         requestError(errors.New("stream")),
	"client-error":          requestError(errors.New("client")),
	"http2-refused":         errors.New("stream error: stream ID 1; REFUSED_STREAM"),
	"http2-canceled":        errors.New("stream error: stream ID 1; CANCEL"),
	"canceled":              canceled{},
	"bad-checksum":          errorOfCode("ChecksumError"), // see Classifier
	"other":                 errors.New("failure by script"),
}

func (c classCase) failure() error {
	err := failures[c.Failure]
	if c.Failure == "" {
		err = serviceError(c.Status, c.Code, c.Message)
	}
	if m := c.Modeled; m != nil {
		if err = (modeled{err}); m.Throttling {
			err = retry.Throttled(err)
		}
	}
	if c.Wrapped {
		err = fmt.Errorf("wrapped: %w", err)
	}
	return err
}

// own21 lists the codes, texts and failures that one SDK classifies otherwise than the others in
// retry behavior 2.1, and than [awspreset.Standard21]. docs/reference/aws.md has them.
var own21 = map[string][]string{
	"botocore-standard-2.1": {
		"untrusted-certificate", "client-error", "broken-stream", "bad-checksum", // it retries them
		"ReplicatedWriteConflictException", // it retries it for operations that declare it
	},
	"go-v2-standard-2.1": {"unknown-host", "truncated"}, // it does not retry them
	"java-v2-standard-2.1": {
		"RequestTimeTooSkewed", "RequestInTheFuture", "RequestExpired", "InternalError", // it retries them
		"PriorRequestNotComplete",        // it is no throttling
		"IDPCommunicationErrorException", // it does not retry it
	},
	"js-v3-standard-2.1": {
		"TimeoutError", "Signature expired", "http2-refused", // it retries them
		"AbortError", // it does not retry it, whatever the status
	},
}

func isAbout(what string, c classCase) bool {
	return c.Failure == what || c.Code != nil && *c.Code == what || strings.HasPrefix(c.Message, what)
}

// classAnswer says timeouts are transient, as the SDKs do in this place.
func classAnswer(p retry.Policy, source string, c classCase) any {
	if slices.ContainsFunc(own21[source], func(what string) bool { return isAbout(what, c) }) {
		return nil
	}
	name := "transient"
	switch p.Classify(c.failure()).Class {
	case retry.ClassPermanent:
		name = "permanent"
	case retry.ClassThrottled:
		if source != "botocore-legacy" { // does not tell throttling from other failures
			name = "throttled"
		}
	}
	return map[string]string{"class": name}
}

// TestOwn21: each entry of own21 is about a difference that exists.
func TestOwn21(t *testing.T) {
	differs := map[string][]string{}
	for _, v := range vectors.Read(t, "classify/aws-standard-2.1") {
		var c classCase
		require.NoError(t, json.Unmarshal(v.Given, &c))
		ours := classAnswer(awspreset.Standard21.Policy(c.Service), "", c)
		for _, want := range v.Answers {
			if vectors.Difference(t, ours, want) == "" {
				continue
			}
			for _, source := range vectors.Sources(want) {
				for _, what := range own21[source] {
					if isAbout(what, c) {
						differs[source] = append(differs[source], what)
					}
				}
			}
		}
	}
	for source, list := range own21 {
		assert.Subset(t, differs[source], list, source)
	}
}

func TestClassVectors(t *testing.T) {
	for _, set := range []string{"classify/aws-standard-2.1", "classify/aws-standard-2.0", "classify/aws-legacy"} {
		t.Run(set, func(t *testing.T) {
			check(t, set, classAnswer, func(c classCase) string { return c.Service })
		})
	}
}

type quotaCase struct {
	Capacity, Tokens float64
	Events           []struct{ Retry, End string }
}

type quotaStep struct {
	Granted *bool   `json:"granted,omitempty"`
	Tokens  float64 `json:"tokens"`
}

func quotaAnswer(p retry.Policy, source string, c quotaCase) any {
	b := p.Budget
	if c.Capacity != 500 || c.Tokens != 500 {
		like := tokens(b)
		b = &awspreset.TokenBudget{Capacity: c.Capacity, Costs: like.Costs, SuccessOnly: like.SuccessOnly, Deficit: c.Capacity - c.Tokens}
	}
	return quotaAnswerOf(b, c)
}

func quotaAnswerOf(b retry.Budget, c quotaCase) any {
	steps, paid := []quotaStep{}, retry.Attempt{}
	for _, e := range c.Events {
		var step quotaStep
		if e.Retry != "" {
			a := retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: classNamed(e.Retry)}}
			granted := b.TryWithdraw(a)
			if step.Granted = &granted; granted {
				paid = a
			}
		} else {
			if e.End == "success" {
				b.Deposit(paid, nil)
			}
			paid = retry.Attempt{}
		}
		step.Tokens = balance(retry.Policy{Budget: b})
		steps = append(steps, step)
	}
	return map[string]any{"after": steps}
}

func TestQuotaVectors(t *testing.T) {
	for _, set := range []string{"quota/aws-standard-2.1", "quota/aws-standard-2.0"} {
		t.Run(set, func(t *testing.T) {
			check(t, set, quotaAnswer, func(quotaCase) string { return "" })
		})
	}
}

type limiterCase struct {
	Start  float64 `json:"start_s"`
	Events []struct {
		After float64 `json:"after_s"`
		Event string
	}
}

// A vectorClock takes whole microseconds to wait.
type vectorClock struct {
	now    time.Time
	waited time.Duration
}

func (c *vectorClock) Now() time.Time { return c.now }

func (c *vectorClock) Sleep(_ context.Context, d time.Duration) error {
	c.waited += d
	c.now = c.now.Add((d + time.Microsecond - 1).Truncate(time.Microsecond))
	return nil
}

var _ retry.Clock = (*vectorClock)(nil)

func limiterAnswer(p retry.Policy, _ string, c limiterCase) any {
	seconds := func(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }
	clock := &vectorClock{now: time.Unix(0, 0).Add(seconds(c.Start))}
	l := p.Limiter.(*awspreset.AdaptiveLimiter)
	l.Clock = clock
	l.Start()
	waits, rates := []float64{}, []any{}
	for _, e := range c.Events {
		clock.now, clock.waited = clock.now.Add(seconds(e.After)), 0
		if e.Event == "send" {
			if err := l.Wait(context.Background()); err != nil {
				return err.Error()
			}
			waits = append(waits, inMs(clock.waited))
			continue
		}
		l.Observe(map[string]retry.Attempt{"success": responded, "throttled": refused}[e.Event])
		if state := l.State(); state.Enabled {
			rates = append(rates, state.Fill)
		} else {
			rates = append(rates, nil)
		}
	}
	return map[string]any{"waits_ms": waits, "rates": rates}
}

func TestLimiterVectors(t *testing.T) {
	for _, set := range []string{"limiter/aws-adaptive-2.1", "limiter/aws-adaptive-2.0"} {
		t.Run(set, func(t *testing.T) {
			check(t, set, limiterAnswer, func(limiterCase) string { return "" })
		})
	}
}

// A twice is a quota that returns tokens twice.
type twice struct{ *awspreset.TokenBudget }

func (b twice) Deposit(a retry.Attempt, err error) {
	b.TokenBudget.Deposit(a, err)
	b.TokenBudget.Deposit(a, err)
}

// caught returns how many answers of a source to a set the function ask does not give. Cases
// for which ask returns nil do not count.
func caught[G any](t *testing.T, set, source string, ask func(G) any) (differ, of int) {
	for _, c := range vectors.Read(t, set) {
		var given G
		require.NoError(t, json.Unmarshal(c.Given, &given))
		for _, want := range c.Answers {
			if !slices.Contains(vectors.Sources(want), source) {
				continue
			}
			got := ask(given)
			if got == nil {
				continue
			}
			of++
			if vectors.Difference(t, got, want) != "" {
				differ++
			}
		}
	}
	return differ, of
}

// TestWrongImplementations: the vectors catch a policy with one wrong rule.
func TestWrongImplementations(t *testing.T) {
	delayOf := func(b retry.Backoff) func(delayCase) any {
		return func(c delayCase) any {
			if strings.HasPrefix(c.Service, "dynamodb") { // has another base
				return delayAnswer(policyLike("botocore-standard-2.1", c.Service), "", c)
			}
			return delayAnswer(retry.Policy{Backoff: b}, "", c)
		}
	}
	const ms, s = time.Millisecond, time.Second
	full := func(base time.Duration) retry.Backoff { return retry.FullJitter{Base: base, Cap: 20 * s} }
	late := func(base time.Duration) retry.Backoff {
		return retry.Capped{Of: retry.FullJitter{Base: base}, Cap: 20 * s}
	}
	classWith := func(wrong bool) func(classCase) any {
		return func(c classCase) any {
			if wrong && c.Status != nil && *c.Status == 503 && c.Code == nil {
				return map[string]string{"class": "throttled"}
			}
			return classAnswer(policyLike("botocore-standard-2.1", c.Service), "botocore-standard-2.1", c)
		}
	}
	quotaWith := func(wrong bool) func(quotaCase) any {
		return func(c quotaCase) any {
			b := &awspreset.TokenBudget{Capacity: c.Capacity, SuccessOnly: true, Deficit: c.Capacity - c.Tokens}
			if wrong {
				return quotaAnswerOf(twice{b}, c)
			}
			return quotaAnswerOf(b, c)
		}
	}
	for _, tt := range []struct {
		name  string
		wrong bool
		run   func() (int, int)
	}{
		{"right delays", false, func() (int, int) {
			return caught(t, "delay/aws-standard-2.1", "botocore-standard-2.1", delayOf(retry.WhenThrottled{Throttled: full(s), Else: full(50 * ms)}))
		}},
		{"base 51 ms", true, func() (int, int) {
			return caught(t, "delay/aws-standard-2.1", "botocore-standard-2.1", delayOf(retry.WhenThrottled{Throttled: full(s), Else: full(51 * ms)}))
		}},
		{"cap after jitter", true, func() (int, int) {
			return caught(t, "delay/aws-standard-2.1", "botocore-standard-2.1", delayOf(retry.WhenThrottled{Throttled: late(s), Else: late(50 * ms)}))
		}},
		{"right delays, behavior 2.0", false, func() (int, int) {
			return caught(t, "delay/aws-standard-2.0", "botocore-standard-2.0", delayOf(full(s)))
		}},
		{"cap after jitter, behavior 2.0", true, func() (int, int) {
			return caught(t, "delay/aws-standard-2.0", "botocore-standard-2.0", delayOf(late(s)))
		}},
		{"right classes", false, func() (int, int) {
			return caught(t, "classify/aws-standard-2.1", "botocore-standard-2.1", classWith(false))
		}},
		{"503 is throttling", true, func() (int, int) {
			return caught(t, "classify/aws-standard-2.1", "botocore-standard-2.1", classWith(true))
		}},
		{"right quota", false, func() (int, int) {
			return caught(t, "quota/aws-standard-2.1", "botocore-standard-2.1", quotaWith(false))
		}},
		{"tokens returned twice", true, func() (int, int) {
			return caught(t, "quota/aws-standard-2.1", "botocore-standard-2.1", quotaWith(true))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			differ, of := tt.run()
			t.Logf("%d of %d cases differ", differ, of)
			assert.Positive(t, of)
			assert.Equal(t, tt.wrong, differ > 0, "%d of %d cases differ", differ, of)
		})
	}
}
