package compat

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	avast "github.com/avast/retry-go/v5"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	cenkalti5 "github.com/cenkalti/backoff/v5"
	"github.com/cenkalti/backoff/v7"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/go-resty/resty/v2"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

// A layer is a client that makes up to four attempts of its own, within an operation that
// is retried.
type layer struct {
	name     string
	requests int    // that an outer Do of four attempts makes
	remedy   string // what makes one layer of the two
	call     func(ctx context.Context, url string) error
}

const (
	attempts = 4
	added    = "none needed"
)

// get is the operation of the layers that retry any function.
func get(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return apiError{StatusCode: uint16(resp.StatusCode)}
}

func atOnce() retry.Policy { return retry.Policy{MaxAttempts: attempts, Backoff: retry.NoDelay{}} }

var layers = []layer{
	{"retry.Do", attempts, added, func(ctx context.Context, url string) error {
		return retry.Do(ctx, atOnce(), func(context.Context) error { return get(url) })
	}},
	{"aws-sdk-go-v2", attempts, added, func(ctx context.Context, url string) error {
		return receive(ctx, url, func(o *sqs.Options) { o.Retryer = awsRetryer() })
	}},
	{"aws-sdk-go-v2, retry quota used up", attempts, added, func(ctx context.Context, url string) error {
		return receive(ctx, url, func(o *sqs.Options) {
			o.Retryer = awsRetryer(func(o *awsretry.StandardOptions) {
				o.MaxAttempts, o.RateLimiter = 2*attempts, ratelimit.NewTokenRateLimit((attempts-1)*awsretry.DefaultRetryCost)
			})
		})
	}},
	{"aws-sdk-go-v2, `aws.NopRetryer`", attempts, added, func(ctx context.Context, url string) error {
		return receive(ctx, url, func(o *sqs.Options) { o.Retryer = aws.NopRetryer{} })
	}},
	{"aws-sdk-go-v2, RetryMaxAttempts 1", attempts, added, func(ctx context.Context, url string) error {
		return receive(ctx, url, func(o *sqs.Options) { o.Retryer = awsretry.AddWithMaxAttempts(awsRetryer(), 1) })
	}},
	{"cenkalti/backoff v7", attempts, added, func(ctx context.Context, url string) error {
		_, err := backoff.Retry(ctx, func() (int, error) { return 0, get(url) },
			backoff.WithMaxTries(attempts), backoff.WithBackOff(backoff.NewConstantBackOff(0)))
		return err
	}},
	{"failsafe-go", attempts, added, func(_ context.Context, url string) error {
		policy := retrypolicy.NewBuilder[any]().WithMaxRetries(attempts - 1).Build()
		return failsafe.With(policy).Run(func() error { return get(url) })
	}},
	{"avast/retry-go", attempts, added, func(_ context.Context, url string) error {
		return avast.New(avast.Attempts(attempts), avast.Delay(0), avast.MaxDelay(time.Nanosecond)).Do(func() error { return get(url) })
	}},
	{"avast/retry-go, LastErrorOnly", attempts * attempts, "`Attempts(1)`", func(_ context.Context, url string) error {
		return avast.New(avast.Attempts(attempts), avast.Delay(0), avast.MaxDelay(time.Nanosecond), avast.LastErrorOnly(true)).Do(func() error { return get(url) })
	}},
	{"cenkalti/backoff v4 to v6", attempts * attempts, "`WithMaxTries(1)`", func(ctx context.Context, url string) error {
		_, err := cenkalti5.Retry(ctx, func() (int, error) { return 0, get(url) },
			cenkalti5.WithMaxTries(attempts), cenkalti5.WithBackOff(cenkalti5.NewConstantBackOff(0)))
		return err
	}},
	{"go-retryablehttp", attempts * attempts, "`client.RetryMax = 0`", func(ctx context.Context, url string) error {
		client := retryablehttp.NewClient()
		client.RetryMax, client.RetryWaitMin, client.RetryWaitMax, client.Logger = attempts-1, 0, 0, nil
		request, err := retryablehttp.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(request)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}},
	{"resty v2", attempts * attempts, "`SetRetryCount(0)`", func(ctx context.Context, url string) error {
		client := resty.New().SetRetryCount(attempts - 1).SetRetryWaitTime(0).SetRetryMaxWaitTime(1).
			AddRetryCondition(func(r *resty.Response, _ error) bool { return r.StatusCode() >= 500 })
		resp, err := client.R().SetContext(ctx).Get(url)
		if err != nil {
			return err
		}
		return apiError{StatusCode: uint16(resp.StatusCode())}
	}},
	{"any loop that returns the last error", attempts * attempts, "`retry.Permanent` around its error, or one attempt", func(_ context.Context, url string) error {
		var err error
		for range attempts {
			err = get(url)
		}
		return fmt.Errorf("after %d attempts: %w", attempts, err)
	}},
}

func awsRetryer(options ...func(*awsretry.StandardOptions)) aws.RetryerV2 {
	atOnce := func(o *awsretry.StandardOptions) {
		o.MaxAttempts = attempts
		o.Backoff = awsretry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	}
	return awsretry.NewStandard(append([]func(*awsretry.StandardOptions){atOnce}, options...)...)
}

func receive(ctx context.Context, url string, options func(*sqs.Options)) error {
	client := sqs.New(sqs.Options{
		BaseEndpoint: &url, Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}, options)
	_, err := client.ListQueues(ctx, &sqs.ListQueuesInput{})
	return err
}

// TestLayers counts the requests of an operation that retries and is retried.
func TestLayers(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	var table strings.Builder
	table.WriteString("| inner call | requests | with `retry.Transient` | how to have one layer |\n|---|---|---|---|\n")
	for _, inner := range layers {
		outer := func(mark func(error) error) int64 {
			requests.Store(0)
			err := retry.Do(t.Context(), atOnce(), func(ctx context.Context) error { return mark(inner.call(ctx, server.URL)) })
			require.Error(t, err, inner.name)
			return requests.Load()
		}
		made, marked := outer(func(err error) error { return err }), outer(retry.Transient)
		assert.EqualValues(t, inner.requests, made, inner.name)
		assert.GreaterOrEqual(t, marked, made, inner.name)
		fmt.Fprintf(&table, "| %s | %d | %d | %s |\n", inner.name, made, marked, inner.remedy)
	}
	checkPage(t, "layers", table.String())
}
