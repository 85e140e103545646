package retryaws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
)

// flaky returns a server that accepts every third request, and a client configuration.
func flaky() (*httptest.Server, aws.Config) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("request", r.Header.Get("Amz-Sdk-Request"))
		if requests.Add(1)%3 != 0 {
			http.Error(w, `{"__type":"ThrottlingException"}`, http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"TableNames":["books"]}`)
	}))
	return server, aws.Config{Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, BaseEndpoint: &server.URL}
}

// The SDK's loop consults the policy of another SDK.
func ExampleNew() {
	server, cfg := flaky()
	defer server.Close()

	policy := awspreset.JavaV2Standard20.Policy("dynamodb")
	policy.Backoff = retry.FullJitter{Base: time.Millisecond} // the preset's is too slow for an example
	retryer, err := retryaws.New(policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = retryer })
	out, err := client.ListTables(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.TableNames)
	// Output:
	// request attempt=1; max=9
	// request attempt=2; max=9
	// request attempt=3; max=9
	// [books]
}

// The loop of package retry replaces the SDK's. Its hooks show why a call took so long.
func ExampleWithPolicy() {
	server, cfg := flaky()
	defer server.Close()

	policy := retry.Policy{
		Backoff:        retry.Exponential{Base: time.Millisecond},
		MaxAttempts:    3,
		MaxElapsed:     time.Minute,
		AttemptTimeout: 10 * time.Second,
		Hooks: retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, wait time.Duration) {
			fmt.Println("attempt", failed.Number, "was", failed.Class, "and the next is in", wait)
		}},
	}
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy))
	})
	out, err := client.ListTables(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.TableNames)
	// Output:
	// request attempt=1; max=3
	// attempt 1 was throttled and the next is in 1ms
	// request attempt=2; max=3
	// attempt 2 was throttled and the next is in 2ms
	// request attempt=3; max=3
	// [books]
}

// The error matches both the last failure and the reason for giving up.
func ExampleWithPolicy_errors() {
	server, cfg := flaky()
	defer server.Close()

	policy := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2}
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy))
	})
	_, err := client.ListTables(context.Background(), nil)
	var apiErr smithy.APIError
	fmt.Println(errors.As(err, &apiErr) && apiErr.ErrorCode() == "ThrottlingException")
	fmt.Println(errors.Is(err, retry.ErrMaxAttempts))
	// Output:
	// request attempt=1; max=2
	// request attempt=2; max=2
	// true
	// true
}

// A Delayer gives the SDK's standard retryer full jitter for every delay. Without one,
// the later delays are exactly 20 s.
func ExampleDelayer() {
	server, cfg := flaky()
	defer server.Close()

	delays := &retryaws.Delayer{Backoff: retry.FullJitter{Base: time.Millisecond, Cap: 20 * time.Second}}
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.Backoff = delays })
	})
	out, err := client.ListTables(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.TableNames)
	// Output:
	// request attempt=1; max=3
	// request attempt=2; max=3
	// request attempt=3; max=3
	// [books]
}

// A preset's waits with the errors of the SDK that the program is built with.
func ExampleSDKRules() {
	p := awspreset.Standard21.Policy("s3")
	p.Classifier = retry.FirstOf(retryaws.SDKRules{}, p.Classifier)

	fmt.Println(p.Classify(errors.New("not an error of the SDK")).Class)
	// Output: permanent
}
