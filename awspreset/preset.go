package awspreset

import (
	"fmt"
	"iter"
	"time"

	"github.com/gobackoff/retry"
)

// A Preset is the retry behavior of one or more AWS SDKs in one of their modes: the delays,
// the number of attempts, the retry quota and its refunds, the use of server hints, and the
// errors that are retried. Delays that the SDK computes in floating point are truncated to
// whole nanoseconds.
//
// A constant never changes its meaning. AWS numbers the behavior of the standard and adaptive
// modes. Behavior 2.1 is the same in all SDKs since November 2026. Behavior 2.0 came before, and
// differs from SDK to SDK. [Preset.Versions] returns the versions of the SDKs that
// behave like a preset, and docs/aws.md has a table of them.
//
// The adaptive mode of an SDK is the standard mode with an [AdaptiveLimiter] as the policy's
// Limiter.
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
	// Standard21 is the standard mode of all present SDKs, in AWS's words retry behavior 2.1:
	// 3 attempts; full jitter with base 50 ms (1 s after throttling); a quota of 500 tokens
	// (14 per retry, 5 after throttling); the header x-amz-retry-after lengthens a delay by at
	// most 5 s. DynamoDB and DynamoDB Streams have 4 attempts and a base of 25 ms. If in
	// doubt, use this one.
	//
	// The SDKs for Java and JavaScript truncate the delays to whole milliseconds, and each
	// SDK retries a few errors that the others do not retry; docs/reference/aws.md lists them.
	Standard21 Preset = iota

	// BotocoreLegacy is botocore's legacy mode in every version, the default of botocore
	// and boto3 until 1.43: 5 attempts; u · 2ⁿ seconds, uncapped; no quota; hints are ignored.
	// DynamoDB (not DynamoDB Streams) has 10 attempts and delays of 2ⁿ · 50 ms without jitter.
	BotocoreLegacy
	// BotocoreStandard20 is botocore's standard mode from 1.34.107 to 1.43: 3
	// attempts, even for DynamoDB; full jitter with base 1 s; a quota of 500 (5 per
	// retry, 10 after a timeout); hints are ignored.
	BotocoreStandard20

	// GoV1 is the AWS SDK for Go v1, which ended with v1.55.8: 4 attempts; equal jitter with
	// base 60 ms (1 s after throttling), capped at 300 s; no quota. After throttling, the
	// header Retry-After of a response with status 429 or 503 is added to the delay, up to an
	// hour (without limit in the SDK). DynamoDB has 11 attempts and a base of 100 ms.
	//
	// If a delay exceeds the cap, the SDK draws another one between half of the cap and the
	// cap. At the first retry whose delay can exceed the cap, which is the tenth after
	// throttling and the fourteenth otherwise, every delay is between these bounds here.
	GoV1
	// GoV2Standard20 is the standard mode, and the default, of the AWS SDK for Go v2 until
	// v1.47: 3 attempts; u · 2ⁿ · 2 s for the first four retries, then exactly 20 s, so
	// clients retry together; a quota of 500 (5 per retry, 10 after a timeout; a success
	// returns the cost of the last retry plus 1); hints are ignored. Status 429 is retried
	// only with a throttling code.
	GoV2Standard20

	// JavaV1 is the legacy mode, and the default, of the AWS SDK for Java v1, which ended with
	// 1.12.797: 4 attempts; random delays from 1 ms to min(20 s, 2ⁿ · 100 ms), or equal jitter
	// with base 500 ms after throttling; a quota of 500 (5 per retry, free after throttling);
	// hints are ignored. DynamoDB has 11 attempts and a base of 25 ms.
	//
	// When a call ends, the SDK returns the tokens of the call's last paid retry, even
	// if free retries followed or the call ends throttled. Here, a call that retried
	// returns tokens only if it succeeds, and only those of its last retry.
	JavaV1
	// JavaV2Legacy is the legacy mode of the AWS SDK for Java v2, the default until 2.57: 4
	// attempts; full jitter with base 100 ms, or equal jitter with base 500 ms after
	// throttling, in whole milliseconds; a quota of 500 (5 per retry, free after
	// throttling); it waits at least as long as the header Retry-After asks, up to an hour
	// (without limit in the SDK). DynamoDB has 9 attempts and a base of 25 ms.
	JavaV2Legacy
	// JavaV2Standard20 is that SDK's standard mode until 2.57: 3 attempts; full jitter
	// with base 100 ms (1 s after throttling), in whole milliseconds; a quota of 500
	// (5 per retry). Hints and DynamoDB are treated as in JavaV2Legacy.
	JavaV2Standard20

	// JavaScriptV2 is the AWS SDK for JavaScript v2, which ended with 2.1693.0: 4 attempts;
	// u · 2ⁿ · 100 ms, uncapped; no quota; hints are ignored. DynamoDB has 11 attempts and a
	// base of 50 ms. If a delay exceeds 24.8 days, the limit of a Node.js timer, the SDK
	// waits 1 ms; here the formula holds.
	JavaScriptV2
	// JavaScriptV3Standard20 is the standard mode, and the default, of the AWS SDK for
	// JavaScript v3 from @smithy/util-retry 4.3.0 to @smithy/core 3.39: 3 attempts; full
	// jitter with base 100 ms (500 ms after throttling), in whole milliseconds; a quota of
	// 500 (10 per retry, 5 after throttling); the headers x-amz-retry-after and Retry-After
	// lengthen a delay by at most 5 s.
	JavaScriptV3Standard20
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
// aws-standard-2.1.
func (p Preset) String() string {
	if int(p) >= len(presets) {
		return fmt.Sprint("aws-preset(", uint8(p), ")")
	}
	return p.row().name
}

// Versions returns the SDKs and their versions that behave like the preset, such as "Go v2
// until v1.47, the default then".
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
// "Route 53". Upper case, spaces and hyphens do not matter. A few services
// have rules of their own, which docs/reference/aws.md lists. For every other name, and for "",
// the general rules apply.
//
// Like a client of an SDK, each policy has its own retry quota. Make one policy per service
// and use it, or copies of it, for all calls.
func (p Preset) Policy(service string) retry.Policy {
	service = serviceKey(service)
	policy := p.row().policy(service)
	policy.Classifier = Classifier{Preset: p, Service: service}
	return policy
}

// row returns the row of p, or the first row if p is not a preset;
// [Classifier.Validate] reports such values.
func (p Preset) row() *presetRow {
	if int(p) >= len(presets) {
		p = Standard21
	}
	return &presets[p]
}

type presetRow struct {
	sdk      string // "" for all present ones
	mode     string // as AWS_RETRY_MODE names it; "" if the SDK does not read it
	name     string
	versions string
	source   string
	policy   func(service string) retry.Policy // without Classifier
}

// presets is plain data, so the package takes no time to initialize.
var presets = [...]presetRow{
	Standard21: {
		mode:     "standard",
		name:     "aws-standard-2.1",
		versions: "botocore and boto3 since 1.44.0, AWS CLI since 2.40.0, Go v2 since v1.48.0, JavaScript v3 since 3.1166.0, Java v2 since 2.58.0, the default",
		source:   "retry behavior 2.1, as in boto/botocore 1.44.8, aws/aws-sdk-go-v2 v1.48.0, aws/aws-sdk-java-v2 2.59.1 and @smithy/core 3.41.1",
		policy:   standard21,
	},
	BotocoreLegacy: {
		sdk:      "botocore",
		mode:     "legacy",
		name:     "aws-botocore-legacy",
		versions: "botocore and boto3, all, the default until 1.43",
		source:   "boto/botocore 1.44.8, botocore/retryhandler.py, botocore/data/_retry.json",
		policy:   botocoreLegacy,
	},
	BotocoreStandard20: {
		sdk:      "botocore",
		mode:     "standard",
		name:     "aws-botocore-standard-2.0",
		versions: "botocore and boto3, 1.34.107 to 1.43",
		source:   "boto/botocore 1.43.11, botocore/retries/standard.py, quota.py, adaptive.py",
		policy:   botocoreStandard,
	},
	GoV1: {
		sdk:      "go-v1",
		name:     "aws-go-v1",
		versions: "Go v1 until v1.55.8, the last",
		source:   "aws/aws-sdk-go v1.55.8, aws/client/default_retryer.go, aws/request/retryer.go",
		policy:   goV1,
	},
	GoV2Standard20: {
		sdk:      "go-v2",
		mode:     "standard",
		name:     "aws-go-v2-standard-2.0",
		versions: "Go v2 until v1.47, the default then",
		source:   "aws/aws-sdk-go-v2 v1.47.8, aws/retry/*.go, aws/ratelimit/*.go",
		policy:   goV2Standard,
	},
	JavaV1: {
		sdk:      "java-v1",
		mode:     "legacy",
		name:     "aws-java-v1",
		versions: "Java v1 until 1.12.797, the last, the default",
		source:   "aws/aws-sdk-java at e8ea7076 (1.12, 2024), com/amazonaws/retry/*.java, com/amazonaws/http/AmazonHttpClient.java",
		policy:   javaV1,
	},
	JavaV2Legacy: {
		sdk:      "java-v2",
		mode:     "legacy",
		name:     "aws-java-v2-legacy",
		versions: "Java v2, all, the default until 2.57",
		source:   "aws/aws-sdk-java-v2 2.59.1, core/retries, core/retries-spi, core/aws-core",
		policy:   javaV2Legacy,
	},
	JavaV2Standard20: {
		sdk:      "java-v2",
		mode:     "standard",
		name:     "aws-java-v2-standard-2.0",
		versions: "Java v2 until 2.57",
		source:   "aws/aws-sdk-java-v2 2.57.8, core/retries, core/retries-spi, core/aws-core",
		policy:   javaV2Standard,
	},
	JavaScriptV2: {
		sdk:      "js-v2",
		name:     "aws-js-v2",
		versions: "JavaScript v2 until 2.1693.0, the last",
		source:   "aws/aws-sdk-js 2.1693.0, lib/util.js, lib/service.js, lib/event_listeners.js, lib/services/*.js",
		policy:   javaScriptV2,
	},
	JavaScriptV3Standard20: {
		sdk:      "js-v3",
		mode:     "standard",
		name:     "aws-js-v3-standard-2.0",
		versions: "JavaScript v3, @smithy/util-retry 4.3.0 to @smithy/core 3.39, the default then",
		source:   "smithy-lang/smithy-typescript, packages/core/src/submodules/retry, @smithy/core 3.39.0",
		policy:   javaScriptV3,
	},
}

// awsCap is the cap of every SDK that has one, except for Go v1.
const awsCap = 20 * time.Second

const quotaCapacity = 500

var costs21 = TokenCosts{Transient: 14, Timeout: 14, Throttled: 5}

func quota(costs TokenCosts) *TokenBudget {
	return &TokenBudget{Capacity: quotaCapacity, Costs: costs, SuccessOnly: true}
}

func standard21(service string) retry.Policy {
	base, attempts := 50*time.Millisecond, 3
	if service == DynamoDB || service == DynamoDBStreams {
		base, attempts = 25*time.Millisecond, 4
	}
	return retry.Policy{
		Backoff: retry.WhenThrottled{
			Throttled: retry.FullJitter{Base: time.Second, Cap: awsCap},
			Else:      retry.FullJitter{Base: base, Cap: awsCap},
		},
		MaxAttempts: attempts,
		Hint:        HintWindow{},
		Budget:      quota(costs21),
	}
}

func botocoreLegacy(service string) retry.Policy {
	p := retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, MaxAttempts: 5, Hint: retry.HintIgnore{}}
	if service == DynamoDB {
		p.Backoff, p.MaxAttempts = retry.Exponential{Base: 50 * time.Millisecond}, 10
	}
	return p
}

func botocoreStandard(string) retry.Policy {
	return retry.Policy{
		Backoff:     retry.FullJitter{Base: time.Second, Cap: awsCap},
		MaxAttempts: 3,
		Hint:        retry.HintIgnore{},
		Budget:      quota(TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}),
	}
}

func goV1(service string) retry.Policy {
	least, attempts := 30*time.Millisecond, 4
	if service == DynamoDB {
		least, attempts = 50*time.Millisecond, 11
	}
	const most = 300 * time.Second
	return retry.Policy{
		Backoff: retry.WhenThrottled{
			Throttled: goV1Equal{Least: 500 * time.Millisecond, Cap: most},
			Else:      goV1Equal{Least: least, Cap: most},
		},
		MaxAttempts: attempts,
		Hint:        hintAdded{},
	}
}

func goV2Standard(string) retry.Policy {
	return retry.Policy{
		Backoff:     goV2Full{Cap: awsCap},
		MaxAttempts: 3,
		Hint:        retry.HintIgnore{},
		Budget:      goV2Quota{quota(TokenCosts{Transient: 5, Timeout: 10, Throttled: 5})},
	}
}

func javaV1(service string) retry.Policy {
	base, attempts := 100*time.Millisecond, 4
	if service == DynamoDB {
		base, attempts = 25*time.Millisecond, 11
	}
	return retry.Policy{
		Backoff: retry.WhenThrottled{
			Throttled: javaEqual{Base: 500 * time.Millisecond, Cap: awsCap},
			Else:      javaFull{Base: base, Cap: awsCap},
		},
		MaxAttempts: attempts,
		Hint:        retry.HintIgnore{},
		Budget:      quota(TokenCosts{Transient: 5, Timeout: 5, Throttled: 0}),
	}
}

func javaV2Legacy(service string) retry.Policy {
	p := javaV2(service, 4, javaEqual{Base: 500 * time.Millisecond, Cap: awsCap})
	p.Budget = quota(TokenCosts{Transient: 5, Timeout: 5, Throttled: 0})
	return p
}

func javaV2Standard(service string) retry.Policy {
	p := javaV2(service, 3, wholeFull{Base: time.Second, Cap: awsCap})
	p.Budget = quota(TokenCosts{Transient: 5, Timeout: 5, Throttled: 5})
	return p
}

func javaV2(service string, attempts int, throttled retry.Backoff) retry.Policy {
	base := 100 * time.Millisecond
	if service == DynamoDB {
		base, attempts = 25*time.Millisecond, 9
	}
	return retry.Policy{
		Backoff:     retry.WhenThrottled{Throttled: throttled, Else: wholeFull{Base: base, Cap: awsCap}},
		MaxAttempts: attempts,
		Hint:        retry.HintAtLeast{Exact: true},
	}
}

func javaScriptV2(service string) retry.Policy {
	p := retry.Policy{Backoff: retry.FullJitter{Base: 100 * time.Millisecond}, MaxAttempts: 4, Hint: retry.HintIgnore{}}
	if service == DynamoDB {
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
		MaxAttempts: 3,
		Hint:        HintWindow{},
		Budget:      quota(TokenCosts{Transient: 10, Timeout: 10, Throttled: 5}),
	}
}
