package retry

import (
	"math"
	"time"
)

// presets are the policies that have a name in the text form.
var presets = []preset{
	{"aws-js-v2", AWSJavaScriptV2},
	{"aws-js-v2-dynamodb", AWSJavaScriptV2DynamoDB},
	{"aws-botocore-legacy", AWSBotocoreLegacy},
	{"aws-botocore-legacy-dynamodb", AWSBotocoreLegacyDynamoDB},
	{"aws-java-v1", AWSJavaV1},
	{"aws-java-v1-dynamodb", AWSJavaV1DynamoDB},
}

type preset struct {
	name   string
	policy func() Policy
}

// AWSJavaScriptV2 waits and retries as the AWS SDK for JavaScript v2 does for
// service requests by default: 4 attempts; u · 2ⁿ · 100 ms without a cap; the
// server's hints are ignored.
//
// Like the other AWS presets it retries only what its SDK retries, so an error
// that says nothing of itself is permanent: see [AWSJavaScriptV2Classifier].
// To keep the delays and retry other errors too, mark these with [Transient],
// put a classifier in front with [FirstOf], or set Classifier to nil, which
// drops the SDK's own rules.
//
// Source: aws/aws-sdk-js 2.1693.0, lib/util.js (calculateRetryDelay),
// lib/service.js, lib/event_listeners.js. Differences: the SDK's delays are
// fractions of a millisecond where these are whole nanoseconds; beyond the
// 24.8 days that a timer of Node.js holds, the SDK waits 1 ms.
func AWSJavaScriptV2() Policy {
	return Policy{
		Backoff:     FullJitter{Base: 100 * time.Millisecond},
		MaxAttempts: 4,
		Classifier:  AWSJavaScriptV2Classifier{},
		Hint:        HintIgnore{},
	}
}

// AWSJavaScriptV2DynamoDB is [AWSJavaScriptV2] as that SDK's DynamoDB client
// has it: 11 attempts; u · 2ⁿ · 50 ms without a cap; failed checksums are
// retried.
//
// Source: aws/aws-sdk-js 2.1693.0, lib/services/dynamodb.js.
func AWSJavaScriptV2DynamoDB() Policy {
	return Policy{
		Backoff:     FullJitter{Base: 50 * time.Millisecond},
		MaxAttempts: 11,
		Classifier:  AWSJavaScriptV2Classifier{Service: "dynamodb"},
		Hint:        HintIgnore{},
	}
}

// AWSBotocoreLegacy waits and retries as botocore, and so boto3 and the AWS
// CLI, does in its legacy mode, which is the default: 5 attempts; u · 2ⁿ
// seconds without a cap; the server's hints are ignored.
//
// An error that says nothing of itself is permanent: see
// [AWSBotocoreLegacyClassifier], and [AWSJavaScriptV2] for how to retry others.
//
// Source: boto/botocore 1.43.11, botocore/retryhandler.py,
// botocore/data/_retry.json.
func AWSBotocoreLegacy() Policy {
	return Policy{
		Backoff:     FullJitter{Base: time.Second},
		MaxAttempts: 5,
		Classifier:  AWSBotocoreLegacyClassifier{},
		Hint:        HintIgnore{},
	}
}

// AWSBotocoreLegacyDynamoDB is [AWSBotocoreLegacy] as that library has it for
// DynamoDB: 10 attempts; 2ⁿ · 50 ms without jitter and without a cap; failed
// checksums and conflicts of replicated writes are retried. DynamoDB Streams
// goes by AWSBotocoreLegacy.
//
// Source: boto/botocore 1.43.11, botocore/data/_retry.json.
func AWSBotocoreLegacyDynamoDB() Policy {
	return Policy{
		Backoff:     Exponential{Base: 50 * time.Millisecond},
		MaxAttempts: 10,
		Classifier:  AWSBotocoreLegacyClassifier{Service: "dynamodb"},
		Hint:        HintIgnore{},
	}
}

// AWSJavaV1 waits and retries as the AWS SDK for Java v1 does in its legacy
// mode, which is the default: 4 attempts; full jitter of 1 ms to 2ⁿ · 100 ms,
// after throttling equal jitter of half to all of 2ⁿ · 500 ms, at most 20 s,
// in whole milliseconds; the server's hints are ignored.
//
// Each call of AWSJavaV1 makes a retry quota of its own: a [TokenBucket] of
// 500, of which a retry takes 5, and nothing after throttling. Like a client
// of the SDK, make one policy for each service that you call and use it for
// all calls.
//
// An error that says nothing of itself is permanent: see [AWSJavaV1Classifier],
// and [AWSJavaScriptV2] for how to retry others.
//
// Source: aws/aws-sdk-java at e8ea7076 (1.12, 2024),
// com/amazonaws/retry/PredefinedBackoffStrategies.java,
// PredefinedRetryPolicies.java, com/amazonaws/http/AmazonHttpClient.java.
// Difference: a call that paid for a retry and then ends throttled gets 5
// tokens back in the SDK although its last attempt took none; here it does not.
func AWSJavaV1() Policy { return awsJavaV1(100*time.Millisecond, 4) }

// AWSJavaV1DynamoDB is [AWSJavaV1] as that SDK's DynamoDB client has it: 11
// attempts, and full jitter of 1 ms to 2ⁿ · 25 ms.
//
// Source: aws/aws-sdk-java at e8ea7076 (1.12, 2024),
// com/amazonaws/retry/PredefinedRetryPolicies.java.
func AWSJavaV1DynamoDB() Policy { return awsJavaV1(25*time.Millisecond, 11) }

func awsJavaV1(base time.Duration, attempts int) Policy {
	const limit = 20 * time.Second
	return Policy{
		Backoff: ByClass{
			Throttled: javaEqual{Base: 500 * time.Millisecond, Cap: limit},
			Else:      javaFull{Base: base, Cap: limit},
		},
		MaxAttempts: attempts,
		Classifier:  AWSJavaV1Classifier{},
		Hint:        HintIgnore{},
		Budget: &TokenBucket{
			Capacity:    500,
			Costs:       Costs{Transient: 5, Timeout: 5},
			SuccessOnly: true,
		},
	}
}

// javaFull is FullJitter in the arithmetic of java.util.Random.nextInt:
// floor(u · t) + 1 whole milliseconds, from 1 to t inclusive, where t is the
// ceiling in whole milliseconds.
type javaFull struct {
	Base time.Duration
	Cap  time.Duration
}

func (b javaFull) Delay(a Attempt, u float64) time.Duration {
	t := javaCeiling(b.Base, b.Cap, a.Number)
	return time.Duration(min(int64(unit(u)*t)+1, int64(t))) * time.Millisecond
}

func (b javaFull) limit(Class) time.Duration { return capOrMax(b.Cap) }

// javaEqual is EqualJitter in the arithmetic of java.util.Random.nextInt:
// t/2 + floor(u · (t/2 + 1)) whole milliseconds, from t/2 to t inclusive,
// where t is the ceiling and t/2 its half, rounded down.
type javaEqual struct {
	Base time.Duration
	Cap  time.Duration
}

func (b javaEqual) Delay(a Attempt, u float64) time.Duration {
	t := javaCeiling(b.Base, b.Cap, a.Number)
	half := int64(t) / 2
	return time.Duration(min(half+int64(unit(u)*float64(half+1)), int64(t))) * time.Millisecond
}

func (b javaEqual) limit(Class) time.Duration { return capOrMax(b.Cap) }

// javaCeiling is min(Cap, Base · 2ⁿ) in whole milliseconds. The SDK lets n
// grow to 30 and holds the result in an int, so it is a whole number below 2³¹.
func javaCeiling(base, limit time.Duration, number int) float64 {
	t := float64(max(0, base)/time.Millisecond) * power(2, min(retriesBefore(number), 30))
	return min(t, float64(capOrMax(limit)/time.Millisecond), math.MaxInt32)
}
