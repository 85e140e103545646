package compat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
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
	"github.com/googleapis/gax-go/v2"
	"github.com/hashicorp/go-retryablehttp"
	sethvargo "github.com/sethvargo/go-retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws"
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
				o.MaxAttempts, o.RetryCost = 2*attempts, 1
				o.RateLimiter = ratelimit.NewTokenRateLimit(attempts - 1)
			})
		})
	}},
	{"aws-sdk-go-v2, `aws.NopRetryer`", attempts, added, func(ctx context.Context, url string) error {
		return receive(ctx, url, func(o *sqs.Options) { o.Retryer = aws.NopRetryer{} })
	}},
	{"aws-sdk-go-v2, RetryMaxAttempts 1", attempts, added, func(ctx context.Context, url string) error {
		return receive(ctx, url, func(o *sqs.Options) { o.Retryer = awsretry.AddWithMaxAttempts(awsRetryer(), 1) })
	}},
	{"retryaws.New", attempts, added, func(ctx context.Context, url string) error {
		retryer, err := retryaws.New(atOnce())
		if err != nil {
			return retry.Permanent(err)
		}
		return receive(ctx, url, func(o *sqs.Options) { o.Retryer = retryer })
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
	{"grpc-go, service config", attempts * attempts, "`grpc.WithDisableRetry()`", func(ctx context.Context, url string) error {
		return callGateway(ctx, func(context.Context) error { return get(url) })
	}},
	{"gax-go", attempts * attempts, "no `gax.WithRetry`", func(ctx context.Context, url string) error {
		left := attempts - 1
		retryer := retryerFunc(func(error) bool { left--; return left >= 0 })
		return gax.Invoke(ctx, func(context.Context, gax.CallSettings) error { return get(url) }, gax.WithRetry(func() gax.Retryer { return retryer }))
	}},
	{"any loop that returns the last error", attempts * attempts, "`retry.Permanent` around its error, or one attempt", func(_ context.Context, url string) error {
		var err error
		for range attempts {
			err = get(url)
		}
		return fmt.Errorf("after %d attempts: %w", attempts, err)
	}},
}

// gateway is a server that does something for each call and fails.
type gateway struct {
	grpc_health_v1.UnimplementedHealthServer
	do func(context.Context) error
}

func (g gateway) Check(ctx context.Context, _ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	return nil, status.Error(codes.Unavailable, g.do(ctx).Error())
}

// callGateway makes a call that grpc-go retries, of a server that calls do each time.
func callGateway(ctx context.Context, do func(context.Context) error) error {
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, gateway{do: do})
	return checkHealth(ctx, server, grpc.WithDefaultServiceConfig(`{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4,
		"initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`))
}

// checkHealth makes one call of server.
func checkHealth(ctx context.Context, server *grpc.Server, options ...grpc.DialOption) error {
	listener := bufconn.Listen(1 << 16)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	conn, err := grpc.NewClient("passthrough:///server", append(options, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))...)
	if err != nil {
		return retry.Permanent(err)
	}
	defer conn.Close()
	_, err = grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	return err
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// retryerFunc is a gax.Retryer that retries at once.
type retryerFunc func(error) bool

func (f retryerFunc) Retry(err error) (time.Duration, bool) { return 0, f(err) }

// outer is a loop of another library around a call of ours. It makes up to four attempts.
type outer struct {
	name     string
	requests int
	remedy   string                // ends the outer loop with ours
	stop     func(err error) error // applies the remedy to an error that matches *retry.Error
	call     func(ctx context.Context, op func() error, stopped func(error) bool) error
}

var outers = []outer{
	{"cenkalti/backoff", attempts * attempts, "`backoff.Permanent(err)`", backoff.Permanent, func(ctx context.Context, op func() error, _ func(error) bool) error {
		_, err := backoff.Retry(ctx, func() (int, error) { return 0, op() },
			backoff.WithMaxTries(attempts), backoff.WithBackOff(backoff.NewConstantBackOff(0)))
		return err
	}},
	{"avast/retry-go", attempts * attempts, "`retry.Unrecoverable(err)` of that package", avast.Unrecoverable, func(_ context.Context, op func() error, _ func(error) bool) error {
		return avast.New(avast.Attempts(attempts), avast.Delay(0), avast.MaxDelay(time.Nanosecond)).Do(op)
	}},
	{"failsafe-go", attempts * attempts, "`AbortIf` with `errors.As`", nil, func(_ context.Context, op func() error, stopped func(error) bool) error {
		policy := retrypolicy.NewBuilder[any]().WithMaxRetries(attempts - 1).AbortIf(func(_ any, err error) bool { return stopped(err) }).Build()
		return failsafe.With(policy).Run(op)
	}},
	{"sethvargo/go-retry", attempts, "none needed", nil, func(ctx context.Context, op func() error, _ func(error) bool) error {
		return sethvargo.Do(ctx, sethvargo.WithMaxRetries(attempts-1, sethvargo.NewConstant(1)), func(context.Context) error { return op() })
	}},
	{"gax-go, OnHTTPCodes", attempts, "none needed", nil, func(ctx context.Context, op func() error, _ func(error) bool) error {
		return gax.Invoke(ctx, func(context.Context, gax.CallSettings) error { return op() },
			gax.WithRetry(func() gax.Retryer {
				return gax.OnHTTPCodes(gax.Backoff{Initial: 1, Max: 1}, http.StatusServiceUnavailable)
			}))
	}},
	{"go-retryablehttp, around a transport", attempts * attempts, "`CheckRetry` with `errors.As`", nil, func(ctx context.Context, op func() error, stopped func(error) bool) error {
		client := retryablehttp.NewClient()
		client.RetryMax, client.RetryWaitMin, client.RetryWaitMax, client.Logger = attempts-1, 0, 0, nil
		client.HTTPClient.Transport = transportFunc(func(*http.Request) (*http.Response, error) { return nil, op() })
		client.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			if stopped(err) {
				return false, err
			}
			return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
		}
		request, err := retryablehttp.NewRequestWithContext(ctx, "GET", "http://server", nil)
		if err != nil {
			return err
		}
		_, err = client.Do(request)
		return err
	}},
	{"grpc-go, service config of the server's client", attempts * attempts, "the server sets the trailer `grpc-retry-pushback-ms: -1`", nil, func(ctx context.Context, op func() error, stopped func(error) bool) error {
		return callGateway(ctx, func(ctx context.Context) error {
			err := op()
			if stopped(err) {
				_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
			}
			return err
		})
	}},
	{"any loop", attempts * attempts, "a test with `errors.As`", nil, func(_ context.Context, op func() error, stopped func(error) bool) error {
		var err error
		for range attempts {
			if err = op(); err == nil || stopped(err) {
				break
			}
		}
		return err
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

// countingServer responds with status 503 and counts the requests.
func countingServer(t *testing.T) (url string, requests *atomic.Int64) {
	requests = new(atomic.Int64)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, requests
}

// TestLayers counts the requests of an operation that retries and is retried. docs/errors.md
// has the remedy.
func TestLayers(t *testing.T) {
	url, requests := countingServer(t)
	page := errorsPage(t)
	for _, inner := range layers {
		outer := func(mark func(error) error) int64 {
			requests.Store(0)
			err := retry.Do(t.Context(), atOnce(), func(ctx context.Context) error { return mark(inner.call(ctx, url)) })
			require.Error(t, err, inner.name)
			return requests.Load()
		}
		made, marked := outer(func(err error) error { return err }), outer(retry.Transient)
		assert.EqualValues(t, inner.requests, made, inner.name)
		assert.GreaterOrEqual(t, marked, made, inner.name)
		assert.Contains(t, page, inner.remedy, inner.name)
	}
}

// TestOuterLayers counts the requests of a call of ours within another library's loop.
func TestOuterLayers(t *testing.T) {
	url, requests := countingServer(t)
	page := errorsPage(t)
	gaveUp := func(err error) bool {
		_, ok := errors.AsType[*retry.Error](err)
		return ok
	}
	for _, outer := range outers {
		made := func(remedied bool) int64 {
			requests.Store(0)
			err := outer.call(t.Context(), func() error {
				err := retry.Do(t.Context(), atOnce(), func(context.Context) error { return get(url) })
				if remedied && outer.stop != nil && gaveUp(err) {
					err = outer.stop(err)
				}
				return err
			}, func(err error) bool { return remedied && gaveUp(err) })
			require.Error(t, err, outer.name)
			return requests.Load()
		}
		plain, remedied := made(false), made(true)
		assert.EqualValues(t, outer.requests, plain, outer.name)
		assert.EqualValues(t, attempts, remedied, outer.name)
		assert.Contains(t, page, outer.remedy, outer.name)
	}
}
