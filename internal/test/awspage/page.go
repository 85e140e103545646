// Package awspage has the code of docs/aws.md and docs/reference/aws.md. The tests of awspreset write it there, and
// test/conformance executes it and the SDKs beside it.
package awspage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// A Use is a row of the first table: what users have, and the code for it.
type Use struct {
	SDK, Version, Mode string // the default mode is in bold type
	Code               func() retry.Policy
}

// Uses returns the first table.
func Uses() []Use {
	return []Use{
		{"boto3, botocore", "1.44.0 or later", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "1.34.107 to 1.43", "standard", func() retry.Policy { return awspreset.BotocoreStandard20.Policy("s3") }},
		{"", "all", "legacy (**the default** until 1.43)", func() retry.Policy { return awspreset.BotocoreLegacy.Policy("s3") }},
		{"aws-cli", "2.40.0 or later", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "2.x before", "**standard**", func() retry.Policy { return awspreset.BotocoreStandard20.Policy("s3") }},
		{"", "2.x", "legacy", func() retry.Policy { return awspreset.BotocoreLegacy.Policy("s3") }},
		{"`@aws-sdk/client-*` (JavaScript v3)", "3.1166.0 or later, with `@smithy/core` 3.40.0 or later (`npm ls @smithy/core` shows it)", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "before, with `@smithy/util-retry` 4.3.0 or later (`npm ls @smithy/util-retry`)", "**standard**", func() retry.Policy { return awspreset.JavaScriptV3Standard20.Policy("s3") }},
		{"`aws-sdk` (JavaScript v2)", "2.x", "", func() retry.Policy { return awspreset.JavaScriptV2.Policy("s3") }},
		{"`software.amazon.awssdk` (Java 2)", "2.58.0 or later", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "until 2.57", "standard", func() retry.Policy { return awspreset.JavaV2Standard20.Policy("s3") }},
		{"", "all", "legacy (**the default** until 2.57)", func() retry.Policy { return awspreset.JavaV2Legacy.Policy("s3") }},
		{"`aws-java-sdk` (Java 1)", "1.x; gives up a connection after 10 s, and a response after 50 s of silence; 50 connections", "**legacy**", func() retry.Policy { return awspreset.JavaV1.Policy("s3") }},
		{"`aws-sdk-go-v2`", "released on 10 November 2026 or later (`aws` v1.48.0)", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "before", "**standard**", func() retry.Policy { return awspreset.GoV2Standard20.Policy("s3") }},
		{"`aws-sdk-go` (Go v1)", "1.x", "", func() retry.Policy { return awspreset.GoV1.Policy("s3") }},
		{".NET, PowerShell, Rust, Ruby, PHP, Swift, C++", "see [when each SDK changed](reference/aws.md#when-each-sdk-changed)", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"every SDK above that has it", "", "adaptive", func() retry.Policy {
			p := awspreset.Standard21.Policy("s3") // or the preset of mode standard
			p.Limiter = new(awspreset.AdaptiveLimiter)
			return p
		}},
	}
}

// A Setting is a row of the second table: an SDK's own setting, and what to write here.
type Setting struct {
	SDK, Theirs string
	Code        func(p *retry.Policy)
	Text        string // instead of Code, if this module cannot compile it
	Run         Run
}

// A Run says how a row is executed.
type Run struct {
	Modes   []string // of test/conformance
	Setting string   // as the SDK's driver knows it
	General bool     // the SDK's setting removes its rules for DynamoDB
	Fault   string   // of every response; "": status 500
	Code    string   // of an error response with status 400
	Calls   int      // 0: one
	Not     string   // why the row is not executed

	// Shorten is an AttemptTimeout in the place of that of the page. 0 means that of the page.
	Shorten time.Duration

	// Context makes the context of a call; nil: without a time limit.
	Context func(context.Context) (context.Context, context.CancelFunc)
}

const (
	botocore = "aws-botocore-standard-2.1"
	js2      = "aws-js-v2"
	js3      = "aws-js-v3-standard-2.1"
	java1    = "aws-java-v1"
	java2    = "aws-java-v2-standard-2.1"
	go1      = "aws-go-v1"
	go2      = "aws-go-v2-standard-2.1"
)

const (
	half = 500 * time.Millisecond
	long = 2 * time.Second // for limits that begin before a JVM on a busy machine has sent the request
)

// Settings returns the second table.
func Settings() []Setting {
	return slices.Concat(botocoreSettings(), javaScriptSettings(), javaSettings(), goSettings())
}

func run(setting string, modes ...string) Run { return Run{Modes: modes, Setting: setting} }

// slow returns a Run with an AttemptTimeout that is shorter than a slow response takes.
func slow(limit time.Duration, setting string, modes ...string) Run {
	return Run{Modes: modes, Setting: setting, Fault: "slow", Shorten: limit}
}

const dialer = "`awshttp.NewBuildableClient().WithDialerOptions(func(d *net.Dialer) { d.Timeout = 5 * time.Second })` as the `HTTPClient` of the client's options"

const noAnswer = "it takes an address that does not answer"

func botocoreSettings() []Setting {
	return []Setting{
		{SDK: "all that read it", Theirs: "`AWS_MAX_ATTEMPTS=4`", Run: run("AWS_MAX_ATTEMPTS=4", botocore, js3), Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{SDK: "botocore", Theirs: "`Config(retries={\"max_attempts\": 4})`, which counts retries", Run: run(`Config(retries={"max_attempts": 4})`, botocore), Code: func(p *retry.Policy) { p.MaxAttempts = 5 }},
		{Theirs: "`Config(retries={\"total_max_attempts\": 4})`", Run: run(`Config(retries={"total_max_attempts": 4})`, botocore), Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{Theirs: "`max_attempts = 4` in `~/.aws/config`", Run: run("max_attempts = 4", botocore), Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{Theirs: "`Config(connect_timeout=5)`; default 60 s", Run: Run{Not: noAnswer}, Text: dialer},
		{Theirs: "`Config(read_timeout=5)`, of each read; default 60 s", Run: slow(half, "Config(read_timeout=0.5)", botocore), Code: func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }},
	}
}

func javaScriptSettings() []Setting {
	return []Setting{
		{SDK: "JavaScript v2", Theirs: "`maxRetries: 3`", Run: run("maxRetries: 3", js2), Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{Theirs: "`retryDelayOptions: {base: 300}`", Run: run("retryDelayOptions: {base: 300}", js2), Code: func(p *retry.Policy) {
			p.Backoff = retry.FullJitter{Base: 300 * time.Millisecond}
		}},
		{Theirs: "`retryDelayOptions: {customBackoff: f}`, where `f` returns milliseconds, and a negative number ends the call", Run: run("retryDelayOptions: {customBackoff: f}", js2), Code: func(p *retry.Policy) {
			p.Backoff = custom(func(n int, err error) float64 {
				if n == 2 {
					return -1
				}
				return 50
			})
		}},
		{Theirs: "`httpOptions: {timeout: 5000}`, of silence; default 120 s", Run: slow(half, "httpOptions: {timeout: 500}", js2), Code: func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }},
		{SDK: "JavaScript v3", Theirs: "`maxAttempts: 4`", Run: run("maxAttempts: 4", js3), Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{Theirs: "`new NodeHttpHandler({requestTimeout: 5000, throwOnRequestTimeout: true})`; default none", Run: slow(half, "new NodeHttpHandler({requestTimeout: 500, throwOnRequestTimeout: true})", js3), Code: func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }},
		{Theirs: "`new NodeHttpHandler({requestTimeout: 5000})`, which only logs a warning", Run: Run{Modes: []string{js3}, Setting: "new NodeHttpHandler({requestTimeout: 500})", Fault: "slow"}, Text: "nothing"},
	}
}

func javaSettings() []Setting {
	limit := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 3*time.Second)
	}
	return []Setting{
		{SDK: "Java 1", Theirs: "`withMaxErrorRetry(3)`", Run: run("withMaxErrorRetry(3)", java1), Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{Theirs: "`withConnectionTimeout(5000)`; default 10 s", Run: Run{Not: noAnswer}, Text: dialer},
		{Theirs: "`withSocketTimeout(5000)`, of silence; default 50 s", Run: slow(half, "withSocketTimeout(500)", java1), Code: func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }},
		{Theirs: "`withRequestTimeout(5000)`; default none", Run: slow(long, "withRequestTimeout(2000)", java1), Code: func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }},
		{Theirs: "`withClientExecutionTimeout(60000)`; default none", Run: Run{Modes: []string{java1}, Setting: "withClientExecutionTimeout(3000)", Fault: "slow", Context: limit}, Text: wholeCall},
		{SDK: "Java 2", Theirs: "`retryStrategy(b -> b.maxAttempts(4))`", Run: Run{Modes: []string{java2}, Setting: "retryStrategy(b -> b.maxAttempts(4))", General: true}, Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{Theirs: "`apiCallAttemptTimeout(Duration.ofSeconds(5))`; default none", Run: slow(long, "apiCallAttemptTimeout(Duration.ofMillis(2000))", java2), Code: func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }},
		{Theirs: "`apiCallTimeout(Duration.ofMinutes(1))`; default none", Run: Run{Modes: []string{java2}, Setting: "apiCallTimeout(Duration.ofMillis(3000))", Fault: "slow", Context: limit}, Text: wholeCall},
	}
}

// wholeCall ends a call within an attempt. MaxElapsed does not interrupt an attempt.
const wholeCall = "`ctx, cancel := context.WithTimeout(ctx, time.Minute)` before each call, and `defer cancel()`"

func goSettings() []Setting {
	return []Setting{
		{SDK: "Go v1", Theirs: "`aws.Config{MaxRetries: aws.Int(3)}`", Run: run("aws.Config{MaxRetries: aws.Int(3)}", go1), Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{SDK: "Go v2", Theirs: "`config.WithRetryMaxAttempts(4)`", Run: run("config.WithRetryMaxAttempts(4)", go2), Code: func(p *retry.Policy) { p.MaxAttempts = 4 }},
		{Theirs: "`retry.AddWithMaxBackoffDelay(r, 5*time.Second)`, which also replaces the rule", Run: Run{Modes: []string{go2}, Setting: "retry.AddWithMaxBackoffDelay(r, 5*time.Second)", General: true}, Code: func(p *retry.Policy) {
			p.Backoff = retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
				most := time.Second << min(a.Number, 30)
				if most > 5*time.Second {
					return 5 * time.Second
				}
				return time.Duration(u * float64(most))
			})
		}},
		{Theirs: "`retry.AddWithErrorCodes(r, \"Odd\")`", Run: Run{Modes: []string{go2}, Setting: `retry.AddWithErrorCodes(r, "Odd")`, General: true, Code: "Odd"}, Code: func(p *retry.Policy) {
			p.Classifier = retry.FirstOf(retry.ClassifierFunc(func(err error) retry.Verdict {
				var api interface{ ErrorCode() string }
				if errors.As(err, &api) && api.ErrorCode() == "Odd" {
					return retry.Verdict{Class: retry.ClassTransient}
				}
				return retry.Verdict{}
			}), p.Classifier)
		}},
		{Theirs: "`o.RateLimiter = ratelimit.None`", Run: Run{Modes: []string{go2}, Setting: "o.RateLimiter = ratelimit.None", General: true, Calls: 40}, Code: func(p *retry.Policy) { p.Budget = retry.NoBudget{} }},
		{Theirs: "`o.RateLimiter = ratelimit.NewTokenRateLimit(50)`; default 500", Run: Run{Modes: []string{go2}, Setting: "o.RateLimiter = ratelimit.NewTokenRateLimit(50)", General: true, Calls: 40}, Code: func(p *retry.Policy) {
			p.Budget = &awspreset.TokenBudget{Capacity: 50, SuccessOnly: true}
		}},
	}
}

// custom is a rule like the customBackoff of JavaScript v2. A negative delay ends the call.
type custom func(retryCount int, err error) (milliseconds float64)

func (f custom) Delay(a retry.Attempt, _ float64) time.Duration {
	return time.Duration(f(a.Number-1, a.Err) * float64(time.Millisecond))
}

// A Gone is a mode without a preset, and the code for it.
type Gone struct {
	Mode string
	Code func(service string) retry.Policy

	Run     string // the mode of test/conformance
	Setting string // of the SDK's driver, in that mode
}

// GoneModes returns the modes without a preset.
func GoneModes() []Gone {
	return []Gone{
		{"botocore until 1.34.106, mode standard: the cap applies after the jitter", func(service string) retry.Policy {
			p := awspreset.BotocoreStandard20.Policy(service)
			p.Backoff = retry.Capped{Of: retry.FullJitter{Base: time.Second}, Cap: 20 * time.Second}
			return p
		}, "aws-botocore-standard-1.34", ""},
		{"botocore, mode adaptive: the limiter begins with one token a second", func(service string) retry.Policy {
			p := awspreset.Standard21.Policy(service) // or BotocoreStandard20
			p.Limiter = &awspreset.AdaptiveLimiter{InitialRate: 1}
			return p
		}, "aws-botocore-adaptive-2.1", ""},
		{"Go v2 until v1.47, mode adaptive: a success without retries returns no tokens", func(service string) retry.Policy {
			p := awspreset.GoV2Standard20.Policy(service)
			costs := awspreset.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}
			p.Budget = &awspreset.TokenBudget{Capacity: 500, Costs: costs, Success: -1, SuccessOnly: true}
			p.Limiter = new(awspreset.AdaptiveLimiter)
			return p
		}, "aws-go-v2-adaptive-2.0", ""},
		{"Java 1, mode standard. DynamoDB keeps its attempts and delays", func(service string) retry.Policy {
			p := awspreset.JavaV1.Policy(service)
			if service != awspreset.DynamoDB {
				p.Backoff, p.MaxAttempts = p.Backoff.(retry.WhenThrottled).Else, 3
			}
			costs := awspreset.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}
			p.Budget = &awspreset.TokenBudget{Capacity: 500, Costs: costs, SuccessOnly: true}
			return p
		}, java1, "standard"},
		{"JavaScript v3 and Java 2 with retry behavior 2.1, to the last microsecond: `wholeMilliseconds` truncates the delays", func(service string) retry.Policy {
			p := awspreset.Standard21.Policy(service)
			p.Backoff = wholeMilliseconds{p.Backoff}
			return p
		}, "aws-js-v3-standard-2.1", ""},
	}
}

type wholeMilliseconds struct{ retry.Backoff }

func (w wholeMilliseconds) Delay(a retry.Attempt, u float64) time.Duration {
	return w.Backoff.Delay(a, u).Truncate(time.Millisecond)
}
