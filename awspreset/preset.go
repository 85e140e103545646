package awspreset

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/limiters"
)

// A Preset is the retry behavior of one AWS SDK in one of its modes. It stands
// for a whole [retry.Policy].
//
// The delays, the number of attempts, the retry quota and its refunds, the use
// of server hints and the choice of errors are those of the SDK. So are the
// defects that the comments below name. Delays that the SDK computes in floating
// point are truncated to whole nanoseconds.
//
// A constant never changes its meaning: if an SDK changes its behavior, the new
// behavior gets its own constant. The SDKs changed their standard mode together in
// November 2026; names with 2026 are that mode.
//
// The SDKs retry only errors that they know; under a preset all others are
// permanent. To retry more, set Classifier to [retry.DefaultClassifier], or put
// another in front with [retry.FirstOf].
type Preset uint8

// In these comments u is a random number in [0, 1) and n the number of retries
// before the delay, so n is 0 before the first retry.
const (
	// Standard2026 is the behavior that the SDKs have shared since November
	// 2026: 3 attempts; delays of u · min(20 s, 2ⁿ · 50 ms), or after throttling
	// u · min(20 s, 2ⁿ · 1 s); a quota of 500 tokens, from which a retry takes
	// 14, or 5 after throttling; a server hint lengthens a delay by at most 5 s.
	// DynamoDB and DynamoDB Streams have 4 attempts and a base of 25 ms.
	// If in doubt, use this one.
	Standard2026 Preset = iota
	// Adaptive2026 is Standard2026 with an [AdaptiveLimiter].
	Adaptive2026

	// BotocoreLegacy is the default of botocore and boto3 until 1.43: 5
	// attempts; u · 2ⁿ seconds without a cap; no quota. DynamoDB, but not
	// DynamoDB Streams, has 10 attempts and delays of 2ⁿ · 50 ms without jitter.
	BotocoreLegacy
	// BotocoreStandardLateCap is botocore's standard mode until 1.34.106. Its cap
	// applies after the jitter, so many delays are exactly 20 s. BotocoreStandard
	// has this defect fixed.
	BotocoreStandardLateCap
	// BotocoreAdaptiveLateCap is BotocoreStandardLateCap with an
	// [AdaptiveLimiter].
	BotocoreAdaptiveLateCap
	// BotocoreStandard is botocore's standard mode from 1.34.107 to 1.43: 3
	// attempts, even for DynamoDB; u · min(20 s, 2ⁿ seconds); a quota of 500,
	// from which a retry takes 5, or 10 after a timeout; hints are ignored.
	BotocoreStandard
	// BotocoreAdaptive is BotocoreStandard with an [AdaptiveLimiter].
	BotocoreAdaptive
	// BotocoreStandard2026 is botocore's standard mode, and its default, since
	// 1.44.0: Standard2026, but it also retries failed TLS handshakes, bad
	// checksums of DynamoDB and every other error of an HTTP client.
	BotocoreStandard2026
	// BotocoreAdaptive2026 is BotocoreStandard2026 with an [AdaptiveLimiter].
	BotocoreAdaptive2026
	// BotocoreStandard2026Preview is botocore's standard mode in 1.43 with
	// AWS_NEW_RETRIES_2026=true: BotocoreStandard2026, but it retries a status
	// of 429 only with a code that means throttling.
	BotocoreStandard2026Preview
	// BotocoreAdaptive2026Preview is BotocoreStandard2026Preview with an
	// [AdaptiveLimiter].
	BotocoreAdaptive2026Preview

	// GoV2Standard is the standard mode of the AWS SDK for Go v2 before 2026: 3
	// attempts; u · 2ⁿ · 2 s for the first four retries, after that exactly
	// 20 s; a quota of 500, from which a retry takes 5, or 10 after a timeout; a
	// success returns 1 more than the last retry took; hints are ignored.
	// Because of the missing jitter, clients that wait 20 s retry together.
	GoV2Standard
	// GoV2StandardRepaired is GoV2Standard with full jitter for every delay:
	// u · min(20 s, 2ⁿ · 2 s).
	GoV2StandardRepaired
	// GoV2Adaptive is GoV2Standard with an [AdaptiveLimiter]. A success without
	// retries returns nothing to its quota, so tokens that were taken by calls
	// that failed are lost for good.
	GoV2Adaptive
	// GoV2AdaptiveRepaired is GoV2StandardRepaired with an [AdaptiveLimiter]:
	// every success returns tokens.
	GoV2AdaptiveRepaired
	// GoV2Standard2026 is Standard2026 with the errors of the AWS SDK for Go
	// v2: it retries a status of 429 only with a code that means throttling.
	GoV2Standard2026
	// GoV2Adaptive2026 is GoV2Standard2026 with an [AdaptiveLimiter] and the
	// defect of GoV2Adaptive. Adaptive2026 does not have this defect, but
	// retries more errors.
	GoV2Adaptive2026

	// JavaV1Legacy is the default of the AWS SDK for Java v1: 4 attempts;
	// random delays from 1 ms to min(20 s, 2ⁿ · 100 ms), or after throttling
	// equal jitter up to min(20 s, 2ⁿ · 500 ms); a quota of 500, from which a
	// retry takes 5, or nothing after throttling; hints are ignored. DynamoDB
	// has 11 attempts and a base of 25 ms.
	//
	// At the end of a call the SDK returns the tokens of the last retry that was
	// not free, even if free retries after throttling followed, and even if the
	// call ends throttled; here only the last retry counts.
	JavaV1Legacy
	// JavaV1Standard is the standard mode of the AWS SDK for Java v1: 3
	// attempts; random delays from 1 ms to min(20 s, 2ⁿ · 100 ms) after all
	// errors; a quota of 500, from which a retry takes 5, or 10 after a timeout.
	// DynamoDB has the delays and attempts of JavaV1Legacy.
	//
	// In the SDK a call that ends with a timeout loses 5 tokens for a retry that
	// does not happen; here it does not.
	JavaV1Standard
	// JavaV1Adaptive is JavaV1Standard with an [AdaptiveLimiter].
	JavaV1Adaptive

	// JavaV2Legacy is the default of the AWS SDK for Java v2 before 2026: 4
	// attempts; u · min(20 s, 2ⁿ · 100 ms), or after throttling equal jitter up to
	// min(20 s, 2ⁿ · 500 ms), in whole milliseconds; a quota of 500, from which
	// a retry takes 5, or nothing after throttling; waits at least as long as the
	// server asks. DynamoDB has 9 attempts and a base of 25 ms. The SDK has no
	// upper bound for a hint; here it is an hour.
	JavaV2Legacy
	// JavaV2Standard is the standard mode of the AWS SDK for Java v2 before
	// 2026: 3 attempts; u · min(20 s, 2ⁿ · 100 ms), or after throttling
	// u · min(20 s, 2ⁿ · 1 s), in whole milliseconds; a quota of 500, from which
	// a retry takes 5; waits at least as long as the server asks. DynamoDB has 9
	// attempts and a base of 25 ms.
	JavaV2Standard
	// JavaV2Adaptive is JavaV2Standard with an [AdaptiveLimiter].
	JavaV2Adaptive
	// JavaV2Standard2026 is Standard2026 with the errors of the AWS SDK for Java
	// v2, in whole milliseconds. DynamoDB Streams is like any other service. The
	// SDK's clients of STS and DynamoDB use hints as JavaV2Standard does; that
	// defect is not copied.
	JavaV2Standard2026
	// JavaV2Adaptive2026 is JavaV2Standard2026 with an [AdaptiveLimiter]; it
	// waits at least as long as the server asks. In this mode a long poll of the
	// SDK does not wait before it gives up.
	JavaV2Adaptive2026

	// JavaScriptV2 is the AWS SDK for JavaScript v2: 4 attempts; u · 2ⁿ · 100 ms
	// without a cap; no quota; hints are ignored. DynamoDB has 11 attempts and a
	// base of 50 ms. For delays above 24.8 days, the limit of a Node.js timer,
	// the SDK waits 1 ms; here the delay is that of the formula.
	JavaScriptV2
	// JavaScriptV3StandardLateCap is the standard mode of the AWS SDK for JavaScript
	// v3 with @smithy/util-retry before 4.3.0. It has three defects that
	// JavaScriptV3Standard does not have: the cap applies after the jitter, so many
	// delays are exactly 20 s; any success fills the quota, which may grow beyond
	// 500; and it waits at least as long as the server asks, up to 20 s. The SDK
	// ignores a Retry-After in seconds. With @smithy/middleware-retry before 4.4.41
	// each call of the SDK has a new quota, which then limits nothing. The SDK's
	// adaptive mode ignores throttling before 4.2.13, so it is the same as this.
	JavaScriptV3StandardLateCap
	// JavaScriptV3Standard is the standard mode of the AWS SDK for JavaScript v3
	// from @smithy/util-retry 4.3.0 to @smithy/core 3.39: 3 attempts;
	// u · min(20 s, 2ⁿ · 100 ms), or after throttling u · min(20 s, 2ⁿ · 500 ms),
	// in whole milliseconds; a quota of 500, from which a retry takes 10, or 5
	// after throttling; a server hint lengthens a delay by at most 5 s.
	JavaScriptV3Standard
	// JavaScriptV3Adaptive is JavaScriptV3Standard with an [AdaptiveLimiter].
	JavaScriptV3Adaptive
	// JavaScriptV3Standard2026 is Standard2026 with the errors of the AWS SDK
	// for JavaScript v3, in whole milliseconds. It is the SDK's default since
	// @smithy/core 3.40.0.
	JavaScriptV3Standard2026
	// JavaScriptV3Adaptive2026 is JavaScriptV3Standard2026 with an
	// [AdaptiveLimiter].
	JavaScriptV3Adaptive2026
)

func init() {
	for p := range All() {
		retry.RegisterPreset(p.String(), p.Policy)
	}
	limiters.Register(limiters.Kind{
		Name: "adaptive",
		New:  func() any { return new(AdaptiveLimiter) },
		Is: func(limiter any) bool {
			l, ok := limiter.(*AdaptiveLimiter)
			return ok && l != nil && l.rules == adaptiveRules{}
		},
	})
}

// All returns all presets, in the order of the constants.
func All() iter.Seq[Preset] {
	return func(yield func(Preset) bool) {
		for i := range presets {
			if !yield(Preset(i)) {
				return
			}
		}
	}
}

// String returns the name of the preset in the text form of a policy, such as
// aws-standard-2026.
func (p Preset) String() string {
	if int(p) >= len(presets) {
		return fmt.Sprintf("aws-preset(%d)", uint8(p))
	}
	return p.row().name()
}

// Source returns the origin of the preset: the SDK's repository and version,
// and the files or folders in it.
func (p Preset) Source() string { return p.row().source }

// Policy returns a new policy for a service, named as in the AWS CLI, such as
// dynamodb or s3. Some services have their own delays, attempts or retryable errors;
// all others are like "", which means no particular service. [retry.Policy.Validate]
// rejects names that the AWS CLI cannot have, for example DynamoDB.
//
// Each policy has its own retry quota and, in an adaptive mode, its own limiter, as
// a client of an SDK has. Make one policy for each service, keep it, and use it, or
// copies of it, for all calls. The limiter is an *[AdaptiveLimiter] on the system's
// clock: if you set the policy's Clock, set the limiter's too.
func (p Preset) Policy(service string) retry.Policy {
	row := p.row()
	policy := row.policy(service)
	if row.limiter != nil {
		policy.Limiter = row.limiter()
	}
	policy.Classifier = Classifier{Preset: p, Service: service}
	return policy
}

// row returns the preset's row of the table. For a value that is not a preset,
// which [Classifier.Validate] reports, it returns the first row.
func (p Preset) row() *presetRow {
	if int(p) >= len(presets) {
		p = Standard2026
	}
	return &presets[p]
}

// presetRow is the definition of a preset.
type presetRow struct {
	sdk        string // "" for the common behavior of the SDKs
	mode       string // as AWS_RETRY_MODE names it; "" if the SDK has only one
	generation string // the rest of the name
	source     string
	policy     func(service string) retry.Policy // without Classifier and Limiter
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

// Parts of Preset.Source.
const (
	sourceCommon       = "the retry behavior that the AWS SDKs announced for November 2026, as in boto/botocore 1.44.5 and aws/aws-sdk-go-v2 v1.47.6"
	sourceBotocore     = "boto/botocore 1.43.11, botocore/retries/standard.py, quota.py, adaptive.py"
	sourceBotocore2026 = "boto/botocore 1.44.5, botocore/retries/standard.py, quota.py, adaptive.py"
	sourceGoV2         = "aws/aws-sdk-go-v2 v1.47.6, aws/retry/*.go, aws/ratelimit/*.go"
	sourceJavaV1       = "aws/aws-sdk-java at e8ea7076 (1.12, 2024), com/amazonaws/retry/*.java, com/amazonaws/http/AmazonHttpClient.java"
	sourceJavaV2       = "aws/aws-sdk-java-v2 2.54.14, core/retries, core/retries-spi, core/aws-core"
	sourceJavaScript   = "smithy-lang/smithy-typescript, packages/core/src/submodules/retry, @smithy/core"
)

// presets is the table of all presets. It is plain data, so that the package takes
// no time to initialize.
var presets = [...]presetRow{
	Standard2026: {"", "standard", "2026", sourceCommon, standard2026, nil},
	Adaptive2026: {"", "adaptive", "2026", sourceCommon, standard2026, adaptiveCommon},

	BotocoreLegacy: {
		"botocore", "legacy", "", "boto/botocore 1.43.11, botocore/retryhandler.py, botocore/data/_retry.json",
		botocoreLegacy, nil,
	},
	BotocoreStandardLateCap: {
		"botocore", "standard", "late-cap", "boto/botocore 1.34.106, botocore/retries/standard.py",
		botocoreLateCap, nil,
	},
	BotocoreAdaptiveLateCap: {
		"botocore", "adaptive", "late-cap", "boto/botocore 1.34.106, botocore/retries/standard.py, adaptive.py",
		botocoreLateCap, adaptiveBotocore,
	},
	BotocoreStandard:     {"botocore", "standard", "", sourceBotocore, botocoreStandard, nil},
	BotocoreAdaptive:     {"botocore", "adaptive", "", sourceBotocore, botocoreStandard, adaptiveBotocore},
	BotocoreStandard2026: {"botocore", "standard", "2026", sourceBotocore2026, standard2026, nil},
	BotocoreAdaptive2026: {"botocore", "adaptive", "2026", sourceBotocore2026, standard2026, adaptiveBotocore},

	BotocoreStandard2026Preview: {"botocore", "standard", "2026-preview", sourceBotocore, standard2026, nil},
	BotocoreAdaptive2026Preview: {"botocore", "adaptive", "2026-preview", sourceBotocore, standard2026, adaptiveBotocore},

	GoV2Standard:         {"go-v2", "standard", "", sourceGoV2, goStandard, nil},
	GoV2StandardRepaired: {"go-v2", "standard", "repaired", sourceGoV2, goRepaired, nil},
	GoV2Adaptive:         {"go-v2", "adaptive", "", sourceGoV2, goAdaptive, adaptiveGoV2},
	GoV2AdaptiveRepaired: {"go-v2", "adaptive", "repaired", sourceGoV2, goRepaired, adaptiveGoV2},
	GoV2Standard2026:     {"go-v2", "standard", "2026", sourceGoV2, standard2026, nil},
	GoV2Adaptive2026:     {"go-v2", "adaptive", "2026", sourceGoV2, goAdaptive2026, adaptiveGoV2},

	JavaV1Legacy:   {"java-v1", "legacy", "", sourceJavaV1, javaV1Legacy, nil},
	JavaV1Standard: {"java-v1", "standard", "", sourceJavaV1, javaV1Standard, nil},
	JavaV1Adaptive: {"java-v1", "adaptive", "", sourceJavaV1, javaV1Standard, adaptiveJavaV1},

	JavaV2Legacy:       {"java-v2", "legacy", "", sourceJavaV2, javaV2Legacy, nil},
	JavaV2Standard:     {"java-v2", "standard", "", sourceJavaV2, javaV2Standard, nil},
	JavaV2Adaptive:     {"java-v2", "adaptive", "", sourceJavaV2, javaV2Standard, adaptiveCommon},
	JavaV2Standard2026: {"java-v2", "standard", "2026", sourceJavaV2, javaV2Standard2026, nil},
	JavaV2Adaptive2026: {"java-v2", "adaptive", "2026", sourceJavaV2, javaV2Adaptive2026, adaptiveCommon},

	JavaScriptV2: {
		"js-v2", "", "", "aws/aws-sdk-js 2.1693.0, lib/util.js, lib/service.js, lib/event_listeners.js, lib/services/*.js",
		javaScriptV2, nil,
	},
	JavaScriptV3StandardLateCap: {
		"js-v3", "standard", "late-cap", "smithy-lang/smithy-typescript, packages/util-retry, @smithy/util-retry 4.2.9",
		javaScriptV3LateCap, nil,
	},
	JavaScriptV3Standard:     {"js-v3", "standard", "", sourceJavaScript + " 3.39.0", javaScriptV3, nil},
	JavaScriptV3Adaptive:     {"js-v3", "adaptive", "", sourceJavaScript + " 3.39.0", javaScriptV3, adaptiveJavaScriptV3},
	JavaScriptV3Standard2026: {"js-v3", "standard", "2026", sourceJavaScript + " 3.41.0", whole2026, nil},
	JavaScriptV3Adaptive2026: {"js-v3", "adaptive", "2026", sourceJavaScript + " 3.41.0", whole2026, adaptiveJavaScriptV3},
}

// awsCap is the cap of every SDK that has one: of the delay, or of its ceiling.
const awsCap = 20 * time.Second

// standard2026 is the standard mode that the SDKs agreed on.
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

// The retry quota of the SDKs: its capacity, and the cost of a retry since 2026.
const quotaCapacity = 500

var costs2026 = retry.TokenCosts{Transient: 14, Timeout: 14, Throttled: 5}

// quota returns the retry quota of an SDK: 500 tokens, refilled only by successes.
func quota(costs retry.TokenCosts) *retry.TokenBudget {
	return &retry.TokenBudget{Capacity: quotaCapacity, Costs: costs, SuccessOnly: true}
}

// adaptiveCommon returns a limiter that follows the SDKs' common description.
func adaptiveCommon() *AdaptiveLimiter { return &AdaptiveLimiter{} }

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
	return retry.Policy{Backoff: b, MaxAttempts: 3, Hint: retry.HintIgnore{}, Budget: quota(retry.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5})}
}

func goStandard(string) retry.Policy {
	return goPolicy(goFull{Cap: awsCap}, goQuota{quota(goCosts)})
}

// goRepaired is goStandard without the jump of goFull to 20 s.
func goRepaired(string) retry.Policy {
	return goPolicy(retry.FullJitter{Base: 2 * time.Second, Cap: awsCap}, goQuota{quota(goCosts)})
}

func goAdaptive(string) retry.Policy {
	return goPolicy(goFull{Cap: awsCap}, goAdaptiveQuota(goCosts))
}

func goAdaptive2026(service string) retry.Policy {
	p := standard2026(service)
	p.Budget = goAdaptiveQuota(costs2026)
	return p
}

func goPolicy(b retry.Backoff, q retry.Budget) retry.Policy {
	return retry.Policy{Backoff: b, MaxAttempts: 3, Hint: retry.HintIgnore{}, Budget: q}
}

var goCosts = retry.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}

// goAdaptiveQuota returns a quota that a success without retries does not refill.
func goAdaptiveQuota(costs retry.TokenCosts) *retry.TokenBudget {
	b := quota(costs)
	b.Success = -1
	return b
}

func javaV1Legacy(service string) retry.Policy {
	p := javaV1(service, 4, retry.TokenCosts{Transient: 5, Timeout: 5, Throttled: 0})
	p.Backoff = retry.WhenThrottled{Throttled: javaEqual{Base: 500 * time.Millisecond, Cap: awsCap}, Else: p.Backoff}
	return p
}

func javaV1Standard(service string) retry.Policy {
	p := javaV1(service, 3, retry.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5})
	if service == "dynamodb" {
		p.Backoff = javaV1Legacy(service).Backoff
	}
	return p
}

func javaV1(service string, attempts int, costs retry.TokenCosts) retry.Policy {
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
	return javaV2(service, 4, javaEqual{Base: 500 * time.Millisecond, Cap: awsCap}, retry.TokenCosts{Transient: 5, Timeout: 5, Throttled: 0})
}

func javaV2Standard(service string) retry.Policy {
	return javaV2(service, 3, wholeFull{Base: time.Second, Cap: awsCap}, retry.TokenCosts{Transient: 5, Timeout: 5, Throttled: 5})
}

func javaV2(service string, attempts int, throttled retry.Backoff, costs retry.TokenCosts) retry.Policy {
	base := 100 * time.Millisecond
	if service == "dynamodb" {
		base, attempts = 25*time.Millisecond, 9
	}
	return retry.Policy{
		Backoff:     retry.WhenThrottled{Throttled: throttled, Else: wholeFull{Base: base, Cap: awsCap}},
		MaxAttempts: attempts, Hint: retry.HintAtLeast{}, Budget: quota(costs),
	}
}

// javaV2Standard2026 treats DynamoDB Streams like any other service.
func javaV2Standard2026(service string) retry.Policy {
	if service == "dynamodbstreams" {
		service = ""
	}
	return whole2026(service)
}

func javaV2Adaptive2026(service string) retry.Policy {
	p := javaV2Standard2026(service)
	p.Hint = retry.HintAtLeast{}
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
		MaxAttempts: 3, Hint: retry.HintWindow{}, Budget: quota(retry.TokenCosts{Transient: 10, Timeout: 10, Throttled: 5}),
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
		MaxAttempts: 3, Hint: retry.HintAtLeast{Max: awsCap}, Budget: newGrowingQuota(),
	}
}
