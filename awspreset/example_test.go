package awspreset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// Presets wait as the SDKs do. With the fixed random number 0.5, each jittered delay is
// the middle of its range.
func ExamplePreset() {
	for _, preset := range []awspreset.Preset{awspreset.Standard21, awspreset.BotocoreLegacy, awspreset.JavaV1} {
		policy := preset.Policy("")
		policy.Rand = retrytest.Fixed(0.5)
		fmt.Print(preset, ":")
		for delay := range policy.Delays() {
			fmt.Print(" ", delay)
		}
		fmt.Println()
	}
	// Output:
	// aws-standard-2.1: 25ms 50ms
	// aws-botocore-legacy: 500ms 1s 2s 4s
	// aws-java-v1: 51ms 101ms 201ms
}

// FromEnv reads the variables that the AWS SDKs read, here as boto3 does.
func ExampleFromEnv() {
	os.Setenv("AWS_RETRY_MODE", "adaptive")
	os.Setenv("AWS_MAX_ATTEMPTS", "6")
	defer os.Unsetenv("AWS_RETRY_MODE")
	defer os.Unsetenv("AWS_MAX_ATTEMPTS")

	policy, err := awspreset.FromEnv(awspreset.Standard21, "dynamodb", awspreset.BotocoreLegacy) // as boto3 since 1.44.0

	fmt.Printf("%T, %d attempts, %v\n", policy.Limiter, policy.MaxAttempts, err)

	os.Setenv("AWS_MAX_ATTEMPTS", "many")
	_, err = awspreset.FromEnv(awspreset.Standard21, "dynamodb", awspreset.BotocoreLegacy)
	fmt.Println(err)
	// Output:
	// *awspreset.AdaptiveLimiter, 6 attempts, <nil>
	// invalid retry environment: AWS_MAX_ATTEMPTS="many" is not a whole number of at least 1
}

// The pseudo-code of the AWS General Reference ("Error retries and exponential backoff in
// AWS") waits 2ⁿ · 100 ms before each poll, the first one included.
func Example_polling() {
	var (
		ctx        = context.Background()
		clock      = &retrytest.Clock{}
		errWaiting = errors.New("not ready")
	)
	poll := retrytest.Script(errWaiting, errWaiting, errWaiting, nil).Run
	const maxRetries = 5
	polling := retry.Policy{Backoff: retry.Exponential{Base: 200 * time.Millisecond}, MaxAttempts: maxRetries, Clock: clock}

	err := clock.Sleep(ctx, 100*time.Millisecond) // before the first poll
	if err == nil {
		err = retry.Do(ctx, polling, poll)
	}
	fmt.Println(err, clock.Waits())
	// Output: <nil> [100ms 200ms 400ms 800ms]
}

// The server may lengthen a delay, here 100 ms, by at most 5 s.
func ExampleHintWindow() {
	for _, hint := range []time.Duration{50 * time.Millisecond, 2 * time.Second, time.Hour} {
		fmt.Println(awspreset.HintWindow{}.Wait(100*time.Millisecond, hint))
	}
	// Output:
	// 100ms true
	// 2s true
	// 5.1s true
}

// A policy without the SDKs' quota, and one with a larger quota.
func Example_quota() {
	p := awspreset.Standard21.Policy("s3")
	fmt.Println(p.Budget.(*awspreset.TokenBudget).Balance())

	p.Budget = retry.NoBudget{}
	p.Budget = &awspreset.TokenBudget{Capacity: 2000, SuccessOnly: true} // 500 is the SDKs' own

	fmt.Println(p.Budget.(*awspreset.TokenBudget).Balance())
	// Output:
	// 500
	// 2000
}
