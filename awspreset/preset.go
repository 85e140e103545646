package awspreset

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

// A Preset is the retry behavior of one AWS SDK in one of its modes: its delays,
// number of attempts, retry quota and refunds, use of server hints, retryable errors,
// and the defects named below. Delays that the SDK computes in floating point are
// truncated to whole nanoseconds.
//
// A preset is a mode that releases of an SDK have, from and until the versions named at
// its constant: see [Preset.Versions]. A constant never changes its meaning: new behavior
// of an SDK gets a new constant. Presets with 2026 in their names follow the behavior that
// the SDKs adopted together in November 2026; with the exception of Java v2, they are the
// present defaults.
//
// Errors that the SDK does not know are permanent. To retry more, set the policy's
// Classifier to [retry.DefaultClassifier], or put your own classifier in front of the
// preset's with [retry.FirstOf].
type Preset uint8

// In these comments, full jitter with base b means delays of u · min(20 s, 2ⁿ · b),
// where u is a random number in [0, 1) and n is the number of retries before the
// delay (0 before the first retry). Equal jitter means delays between half of
// min(20 s, 2ⁿ · b) and all of it.
const (
	// Standard2026 is the behavior that the SDKs have shared since November
	// 2026: 3 attempts; full jitter with base 50 ms (1 s after throttling); a
	// quota of 500 tokens (14 per retry, 5 after throttling); server hints
	// lengthen a delay by at most 5 s. DynamoDB and DynamoDB Streams have 4
	// attempts and a base of 25 ms. If in doubt, use this one.
	Standard2026 Preset = iota
	// Adaptive2026 is Standard2026 with an [AdaptiveLimiter].
	Adaptive2026

	// BotocoreLegacy is botocore's legacy mode in every version, the default of botocore
	// and boto3 until 1.43: 5 attempts; u · 2ⁿ seconds, uncapped; no quota. DynamoDB (not
	// DynamoDB Streams) has 10 attempts and delays of 2ⁿ · 50 ms without jitter.
	BotocoreLegacy
	// BotocoreStandardLateCap is botocore's standard mode until 1.34.106. Its cap
	// applies after the jitter, so many delays are exactly 20 s; BotocoreStandard
	// fixes this defect.
	BotocoreStandardLateCap
	// BotocoreAdaptiveLateCap is BotocoreStandardLateCap with an
	// [AdaptiveLimiter].
	BotocoreAdaptiveLateCap
	// BotocoreStandard is botocore's standard mode from 1.34.107 to 1.43: 3
	// attempts, even for DynamoDB; full jitter with base 1 s; a quota of 500 (5 per
	// retry, 10 after a timeout); hints are ignored.
	BotocoreStandard
	// BotocoreAdaptive is BotocoreStandard with an [AdaptiveLimiter].
	BotocoreAdaptive
	// BotocoreStandard2026 is botocore's standard mode, and its default, since 1.44.0.
	// It is Standard2026, but it also retries failed TLS handshakes, bad DynamoDB
	// checksums and every other error of an HTTP client.
	BotocoreStandard2026
	// BotocoreAdaptive2026 is BotocoreStandard2026 with an [AdaptiveLimiter].
	BotocoreAdaptive2026

	// GoV2Standard is the standard mode, and the default, of the AWS SDK for Go v2 until
	// v1.47: 3 attempts; u · 2ⁿ · 2 s for the first four retries, then exactly 20 s, so
	// clients retry together; a quota of 500 (5 per retry, 10 after a timeout; a success
	// returns the cost of the last retry plus 1); hints are ignored. Status 429 is retried
	// only with a throttling code.
	GoV2Standard
	// GoV2Adaptive is GoV2Standard with an [AdaptiveLimiter]. A success without
	// retries returns nothing to the quota, so tokens taken by failed calls are
	// lost for good.
	GoV2Adaptive
	// GoV2Standard2026, the SDK's default since v1.48.0, is Standard2026 with the SDK's own
	// set of retryable errors.
	GoV2Standard2026
	// GoV2Adaptive2026 is GoV2Standard2026 with an [AdaptiveLimiter].
	GoV2Adaptive2026

	// JavaV1Legacy is the default of the AWS SDK for Java v1, which ended with 1.12.797: 4
	// attempts; random
	// delays from 1 ms to min(20 s, 2ⁿ · 100 ms), or equal jitter with base 500 ms
	// after throttling; a quota of 500 (5 per retry, free after throttling); hints
	// are ignored. DynamoDB has 11 attempts and a base of 25 ms.
	//
	// When a call ends, the SDK returns the tokens of the call's last paid retry, even
	// if free retries followed or the call ends throttled. Here, a call that retried
	// returns tokens only if it succeeds, and only those of its last retry.
	JavaV1Legacy
	// JavaV1Standard is the SDK's standard mode: 3 attempts; random delays from
	// 1 ms to min(20 s, 2ⁿ · 100 ms) after any error; a quota of 500 (5 per retry,
	// 10 after a timeout). DynamoDB has the delays and attempts of JavaV1Legacy.
	//
	// In the SDK, a call that ends with a timeout loses 5 tokens for a retry that
	// never happens; here it does not.
	JavaV1Standard
	// JavaV1Adaptive is JavaV1Standard with an [AdaptiveLimiter].
	JavaV1Adaptive

	// JavaV2Legacy is the default of the AWS SDK for Java v2, as of 2.57.8: 4
	// attempts; full jitter with base 100 ms, or equal jitter with base 500 ms after
	// throttling, in whole milliseconds; a quota of 500 (5 per retry, free after
	// throttling); it waits at least as long as the server asks, up to an hour (without
	// limit in the SDK). DynamoDB has 9 attempts and a base of 25 ms.
	JavaV2Legacy
	// JavaV2Standard is the SDK's standard mode, as of 2.57.8: 3 attempts; full jitter
	// with base 100 ms (1 s after throttling), in whole milliseconds; a quota of 500
	// (5 per retry). Hints and DynamoDB are treated as in JavaV2Legacy.
	JavaV2Standard
	// JavaV2Adaptive is JavaV2Standard with an [AdaptiveLimiter].
	JavaV2Adaptive
	// JavaV2Standard2026 is the SDK's standard mode since 2.44.0 with
	// AWS_NEW_RETRIES_2026=true, which 2.57.8 still needs. It is Standard2026 with delays in
	// whole milliseconds and the SDK's own set of retryable errors. DynamoDB Streams is treated like any other
	// service. The SDK's STS and DynamoDB clients use hints as JavaV2Standard does;
	// that defect is not copied.
	JavaV2Standard2026
	// JavaV2Adaptive2026 is JavaV2Standard2026 with an [AdaptiveLimiter]; it waits
	// at least as long as the server asks. In this mode, the SDK's long polls give
	// up without waiting.
	JavaV2Adaptive2026

	// JavaScriptV2 is the AWS SDK for JavaScript v2, which ended with 2.1693.0: 4 attempts;
	// u · 2ⁿ · 100 ms,
	// uncapped; no quota; hints are ignored. DynamoDB has 11 attempts and a base of
	// 50 ms. If a delay exceeds 24.8 days, the limit of a Node.js timer, the SDK waits
	// 1 ms; here the formula holds.
	JavaScriptV2
	// JavaScriptV3StandardLateCap is the standard mode of the AWS SDK for
	// JavaScript v3 with @smithy/util-retry before 4.3.0. It has three defects
	// that JavaScriptV3Standard fixes: the cap applies after the jitter, so many
	// delays are exactly 20 s; any success fills the quota, which may grow beyond
	// 500; and it waits at least as long as the server asks, up to 20 s. The SDK
	// ignores a Retry-After in seconds. With @smithy/middleware-retry before
	// 4.4.41, each SDK call has its own quota, which limits nothing. With
	// @smithy/util-retry before 4.2.13, the SDK's adaptive mode ignores throttling, so
	// it behaves like this preset.
	JavaScriptV3StandardLateCap
	// JavaScriptV3Standard is the SDK's standard mode from @smithy/util-retry 4.3.0
	// to @smithy/core 3.39: 3 attempts; full jitter with base 100 ms (500 ms after
	// throttling), in whole milliseconds; a quota of 500 (10 per retry, 5 after
	// throttling); hints lengthen a delay by at most 5 s.
	JavaScriptV3Standard
	// JavaScriptV3Adaptive is JavaScriptV3Standard with an [AdaptiveLimiter].
	JavaScriptV3Adaptive
	// JavaScriptV3Standard2026, the SDK's default since @smithy/core 3.40.0, is
	// Standard2026 with delays in whole milliseconds and the SDK's own set of retryable
	// errors.
	JavaScriptV3Standard2026
	// JavaScriptV3Adaptive2026 is JavaScriptV3Standard2026 with an
	// [AdaptiveLimiter].
	JavaScriptV3Adaptive2026
)

// All returns the presets in the order of the constants.
func All() iter.Seq[Preset] {
	return func(yield func(Preset) bool) {
		for i := range presets {
			if !yield(Preset(i)) {
				return
			}
		}
	}
}

// String returns the preset's name in the text form of a policy, such as
// aws-standard-2026.
func (p Preset) String() string {
	if int(p) >= len(presets) {
		return fmt.Sprint("aws-preset(", uint8(p), ")")
	}
	return p.row().name()
}

// Versions returns the versions of the SDK that behave like the preset, such as "since
// v1.48.0, the default".
func (p Preset) Versions() string { return p.row().versions }

// Source returns the preset's origin: the SDK's repository and version, and the files
// or folders in that repository.
func (p Preset) Source() string { return p.row().source }

// These are the services for which SDKs have other delays and other numbers of attempts.
const (
	// DynamoDB is Amazon DynamoDB.
	DynamoDB = "dynamodb"
	// DynamoDBStreams is Amazon DynamoDB Streams.
	DynamoDBStreams = "dynamodbstreams"
)

// Policy returns a new policy for calls to an AWS service. The argument is the service's
// name in the AWS CLI or its ID in an SDK, such as [DynamoDB], "sqs", "lambda" or
// "Route 53". Upper case, spaces and hyphens do not matter. Most services have no rules of
// their own, and every name without such rules, as well as "", gets the general ones.
// docs/aws.md lists the services with rules of their own.
//
// Like a client of an SDK, each policy has its own retry quota and, in adaptive
// modes, its own limiter. Make one policy per service and use it, or copies of it,
// for all calls. The limiter is an *[AdaptiveLimiter] on the system clock: if you
// set the policy's Clock, set the limiter's too.
func (p Preset) Policy(service string) retry.Policy {
	row := p.row()
	service = serviceKey(service)
	policy := row.policy(service)
	if row.limiter != nil {
		policy.Limiter = row.limiter()
	}
	policy.Classifier = Classifier{Preset: p, Service: service}
	return policy
}

// row returns the row of p, or the first row if p is not a preset;
// [Classifier.Validate] reports such values.
func (p Preset) row() *presetRow {
	if int(p) >= len(presets) {
		p = Standard2026
	}
	return &presets[p]
}

type presetRow struct {
	sdk        string // "" for the SDKs' common behavior
	mode       string // as AWS_RETRY_MODE names it; "" if the SDK has only one
	generation string
	versions   string
	source     string
	policy     func(service string) retry.Policy // without Classifier, Limiter
	limiter    func() *AdaptiveLimiter           // nil: none
}

func (p *presetRow) name() string {
	var name strings.Builder
	name.WriteString("aws")
	for _, part := range []string{p.sdk, p.mode, p.generation} {
		if part != "" {
			name.WriteString("-" + part)
		}
	}
	return name.String()
}

const (
	sourceCommon       = "the retry behavior that the AWS SDKs announced for November 2026, as in boto/botocore 1.44.5 and aws/aws-sdk-go-v2 v1.48.0"
	sourceBotocore     = "boto/botocore 1.43.11, botocore/retries/standard.py, quota.py, adaptive.py"
	sourceBotocore2026 = "boto/botocore 1.44.5, botocore/retries/standard.py, quota.py, adaptive.py"
	sourceGoV2         = "aws/aws-sdk-go-v2 v1.47.8, aws/retry/*.go, aws/ratelimit/*.go"
	sourceGoV22026     = "aws/aws-sdk-go-v2 v1.48.0, aws/retry/*.go, aws/ratelimit/*.go"
	sourceJavaV1       = "aws/aws-sdk-java at e8ea7076 (1.12, 2024), com/amazonaws/retry/*.java, com/amazonaws/http/AmazonHttpClient.java"
	sourceJavaV2       = "aws/aws-sdk-java-v2 2.57.8, core/retries, core/retries-spi, core/aws-core"
	sourceJavaScript   = "smithy-lang/smithy-typescript, packages/core/src/submodules/retry, @smithy/core"
)

// presets is plain data, so the package takes no time to initialize.
var presets = [...]presetRow{
	Standard2026: {"", "standard", "2026", "since November 2026", sourceCommon, standard2026, nil},
	Adaptive2026: {"", "adaptive", "2026", "since November 2026", sourceCommon, standard2026, adaptiveCommon},

	BotocoreLegacy: {
		"botocore", "legacy", "", "all, the default until 1.43", "boto/botocore 1.44.5, botocore/retryhandler.py, botocore/data/_retry.json",
		botocoreLegacy, nil,
	},
	BotocoreStandardLateCap: {
		"botocore", "standard", "late-cap", "until 1.34.106", "boto/botocore 1.34.106, botocore/retries/standard.py",
		botocoreLateCap, nil,
	},
	BotocoreAdaptiveLateCap: {
		"botocore", "adaptive", "late-cap", "until 1.34.106", "boto/botocore 1.34.106, botocore/retries/standard.py, adaptive.py",
		botocoreLateCap, adaptiveBotocore,
	},
	BotocoreStandard:     {"botocore", "standard", "", "1.34.107 to 1.43", sourceBotocore, botocoreStandard, nil},
	BotocoreAdaptive:     {"botocore", "adaptive", "", "1.34.107 to 1.43", sourceBotocore, botocoreStandard, adaptiveBotocore},
	BotocoreStandard2026: {"botocore", "standard", "2026", "since 1.44.0, the default", sourceBotocore2026, standard2026, nil},
	BotocoreAdaptive2026: {"botocore", "adaptive", "2026", "since 1.44.0", sourceBotocore2026, standard2026, adaptiveBotocore},

	GoV2Standard:     {"go-v2", "standard", "", "until v1.47, the default then", sourceGoV2, goStandard, nil},
	GoV2Adaptive:     {"go-v2", "adaptive", "", "until v1.47", sourceGoV2, goAdaptive, adaptiveCommon},
	GoV2Standard2026: {"go-v2", "standard", "2026", "since v1.48.0, the default", sourceGoV22026, standard2026, nil},
	GoV2Adaptive2026: {"go-v2", "adaptive", "2026", "since v1.48.0", sourceGoV22026, standard2026, adaptiveCommon},

	JavaV1Legacy:   {"java-v1", "legacy", "", "until 1.12.797, the last, the default", sourceJavaV1, javaV1Legacy, nil},
	JavaV1Standard: {"java-v1", "standard", "", "until 1.12.797, the last", sourceJavaV1, javaV1Standard, nil},
	JavaV1Adaptive: {"java-v1", "adaptive", "", "until 1.12.797, the last", sourceJavaV1, javaV1Standard, adaptiveCommon},

	JavaV2Legacy:       {"java-v2", "legacy", "", "as of 2.57.8, the default", sourceJavaV2, javaV2Legacy, nil},
	JavaV2Standard:     {"java-v2", "standard", "", "as of 2.57.8", sourceJavaV2, javaV2Standard, nil},
	JavaV2Adaptive:     {"java-v2", "adaptive", "", "as of 2.57.8", sourceJavaV2, javaV2Standard, adaptiveCommon},
	JavaV2Standard2026: {"java-v2", "standard", "2026", "since 2.44.0, with the variable", sourceJavaV2, javaV2Standard2026, nil},
	JavaV2Adaptive2026: {"java-v2", "adaptive", "2026", "since 2.44.0, with the variable", sourceJavaV2, javaV2Adaptive2026, adaptiveCommon},

	JavaScriptV2: {
		"js-v2", "", "", "until 2.1693.0, the last, the default", "aws/aws-sdk-js 2.1693.0, lib/util.js, lib/service.js, lib/event_listeners.js, lib/services/*.js",
		javaScriptV2, nil,
	},
	JavaScriptV3StandardLateCap: {
		"js-v3", "standard", "late-cap", "until @smithy/util-retry 4.2, the default then", "smithy-lang/smithy-typescript, packages/util-retry, @smithy/util-retry 4.2.9",
		javaScriptV3LateCap, nil,
	},
	JavaScriptV3Standard:     {"js-v3", "standard", "", "@smithy/util-retry 4.3.0 to @smithy/core 3.39, the default then", sourceJavaScript + " 3.39.0", javaScriptV3, nil},
	JavaScriptV3Adaptive:     {"js-v3", "adaptive", "", "@smithy/util-retry 4.3.0 to @smithy/core 3.39", sourceJavaScript + " 3.39.0", javaScriptV3, adaptiveCommon},
	JavaScriptV3Standard2026: {"js-v3", "standard", "2026", "since @smithy/core 3.40.0, the default", sourceJavaScript + " 3.41.0", whole2026, nil},
	JavaScriptV3Adaptive2026: {"js-v3", "adaptive", "2026", "since @smithy/core 3.40.0", sourceJavaScript + " 3.41.0", whole2026, adaptiveCommon},
}

// awsCap is the cap of every SDK that has one.
const awsCap = 20 * time.Second

func standard2026(service string) retry.Policy {
	base, attempts := base2026(service)
	return policy2026(attempts, retry.FullJitter{Base: time.Second, Cap: awsCap}, retry.FullJitter{Base: base, Cap: awsCap})
}

// whole2026 is standard2026 in whole milliseconds.
func whole2026(service string) retry.Policy {
	base, attempts := base2026(service)
	return policy2026(attempts, wholeFull{Base: time.Second, Cap: awsCap}, wholeFull{Base: base, Cap: awsCap})
}

func base2026(service string) (base time.Duration, attempts int) {
	if service == "dynamodb" || service == "dynamodbstreams" {
		return 25 * time.Millisecond, 4
	}
	return 50 * time.Millisecond, 3
}

func policy2026(attempts int, throttled, others retry.Backoff) retry.Policy {
	return retry.Policy{
		Backoff:     retry.WhenThrottled{Throttled: throttled, Else: others},
		MaxAttempts: attempts,
		Hint:        retry.HintWindow{},
		Budget:      quota(costs2026),
	}
}

const quotaCapacity = 500

var costs2026 = TokenCosts{Transient: 14, Timeout: 14, Throttled: 5}

func quota(costs TokenCosts) *TokenBudget {
	return &TokenBudget{Capacity: quotaCapacity, Costs: costs, SuccessOnly: true}
}

func adaptiveCommon() *AdaptiveLimiter { return &AdaptiveLimiter{} }

func adaptiveBotocore() *AdaptiveLimiter { return &AdaptiveLimiter{InitialRate: 1} }

func botocoreLegacy(service string) retry.Policy {
	p := retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, MaxAttempts: 5, Hint: retry.HintIgnore{}}
	if service == "dynamodb" {
		p.Backoff, p.MaxAttempts = retry.Exponential{Base: 50 * time.Millisecond}, 10
	}
	return p
}

func botocoreLateCap(string) retry.Policy {
	return botocorePolicy(retry.Capped{Of: retry.FullJitter{Base: time.Second}, Cap: awsCap})
}

func botocoreStandard(string) retry.Policy {
	return botocorePolicy(retry.FullJitter{Base: time.Second, Cap: awsCap})
}

func botocorePolicy(b retry.Backoff) retry.Policy {
	return retry.Policy{Backoff: b, MaxAttempts: 3, Hint: retry.HintIgnore{}, Budget: quota(TokenCosts{Transient: 5, Timeout: 10, Throttled: 5})}
}

func goStandard(string) retry.Policy { return goPolicy(goQuota{quota(goCosts)}) }

// goAdaptive has a quota that a success without retries does not refill.
func goAdaptive(string) retry.Policy {
	b := quota(goCosts)
	b.Success = -1
	return goPolicy(b)
}

var goCosts = TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}

func goPolicy(q retry.Budget) retry.Policy {
	return retry.Policy{Backoff: goFull{Cap: awsCap}, MaxAttempts: 3, Hint: retry.HintIgnore{}, Budget: q}
}

func javaV1Legacy(service string) retry.Policy {
	p := javaV1(service, 4, TokenCosts{Transient: 5, Timeout: 5, Throttled: 0})
	p.Backoff = retry.WhenThrottled{Throttled: javaEqual{Base: 500 * time.Millisecond, Cap: awsCap}, Else: p.Backoff}
	return p
}

func javaV1Standard(service string) retry.Policy {
	p := javaV1(service, 3, TokenCosts{Transient: 5, Timeout: 10, Throttled: 5})
	if service == "dynamodb" {
		p.Backoff = javaV1Legacy(service).Backoff
	}
	return p
}

func javaV1(service string, attempts int, costs TokenCosts) retry.Policy {
	base := 100 * time.Millisecond
	if service == "dynamodb" {
		base, attempts = 25*time.Millisecond, 11
	}
	return retry.Policy{
		Backoff: javaFull{Base: base, Cap: awsCap}, MaxAttempts: attempts, Hint: retry.HintIgnore{},
		Budget: quota(costs),
	}
}

func javaV2Legacy(service string) retry.Policy {
	return javaV2(service, 4, javaEqual{Base: 500 * time.Millisecond, Cap: awsCap}, TokenCosts{Transient: 5, Timeout: 5, Throttled: 0})
}

func javaV2Standard(service string) retry.Policy {
	return javaV2(service, 3, wholeFull{Base: time.Second, Cap: awsCap}, TokenCosts{Transient: 5, Timeout: 5, Throttled: 5})
}

func javaV2(service string, attempts int, throttled retry.Backoff, costs TokenCosts) retry.Policy {
	base := 100 * time.Millisecond
	if service == "dynamodb" {
		base, attempts = 25*time.Millisecond, 9
	}
	return retry.Policy{
		Backoff:     retry.WhenThrottled{Throttled: throttled, Else: wholeFull{Base: base, Cap: awsCap}},
		MaxAttempts: attempts, Hint: retry.HintAtLeast{Exact: true}, Budget: quota(costs),
	}
}

func javaV2Standard2026(service string) retry.Policy {
	if service == "dynamodbstreams" {
		service = ""
	}
	return whole2026(service)
}

func javaV2Adaptive2026(service string) retry.Policy {
	p := javaV2Standard2026(service)
	p.Hint = retry.HintAtLeast{Exact: true}
	return p
}

func javaScriptV2(service string) retry.Policy {
	p := retry.Policy{Backoff: retry.FullJitter{Base: 100 * time.Millisecond}, MaxAttempts: 4, Hint: retry.HintIgnore{}}
	if service == "dynamodb" {
		p.Backoff, p.MaxAttempts = retry.FullJitter{Base: 50 * time.Millisecond}, 11
	}
	return p
}

func javaScriptV3(string) retry.Policy {
	return retry.Policy{
		Backoff: retry.WhenThrottled{
			Throttled: wholeFull{Base: 500 * time.Millisecond, Cap: awsCap},
			Else:      wholeFull{Base: 100 * time.Millisecond, Cap: awsCap},
		},
		MaxAttempts: 3, Hint: retry.HintWindow{}, Budget: quota(TokenCosts{Transient: 10, Timeout: 10, Throttled: 5}),
	}
}

func javaScriptV3LateCap(string) retry.Policy {
	return retry.Policy{
		Backoff: retry.Capped{
			Of: retry.WhenThrottled{
				Throttled: wholeFull{Base: 500 * time.Millisecond},
				Else:      wholeFull{Base: 100 * time.Millisecond},
			},
			Cap: awsCap,
		},
		MaxAttempts: 3, Hint: retry.HintAtLeast{Max: awsCap, Exact: true}, Budget: newGrowingQuota(),
	}
}
