package retryaws_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// A table accepts a number of requests per second, and saves up what one second was short of.
type table struct {
	rate float64

	mu       sync.Mutex
	saved    float64
	at       time.Time
	accepted int
}

func (a *table) Do(r *http.Request) (*http.Response, error) {
	time.Sleep(5 * time.Millisecond)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.saved = min(a.rate, a.saved+now.Sub(a.at).Seconds()*a.rate)
	a.at = now
	if a.saved < 1 {
		return throttled(r)
	}
	a.saved--
	a.accepted++
	return ok(r)
}

//go:linkname sdkSleep github.com/aws/aws-sdk-go-v2/internal/sdk.SleepWithContext
var sdkSleep func(context.Context, time.Duration) error

// TestAdaptiveCallers: with any number of concurrent callers, a table accepts as many requests
// of the policy as of the SDK's own adaptive mode.
func TestAdaptiveCallers(t *testing.T) {
	// If a part of a token is missing that comes within a nanosecond, the SDK waits for 0 ns,
	// again and again. Virtual time would stand still.
	original := sdkSleep
	sdkSleep = func(ctx context.Context, d time.Duration) error { return original(ctx, max(d, time.Microsecond)) }
	defer func() { sdkSleep = original }()

	const runs = 8
	accepted := func(t *testing.T, callers int, client func(*table) *dynamodb.Client) (sum float64) {
		for range runs {
			synctest.Test(t, func(t *testing.T) {
				server := &table{rate: 15, at: time.Now()}
				c := client(server)
				ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
				defer cancel()
				var group sync.WaitGroup
				for range callers {
					group.Go(func() {
						for ctx.Err() == nil {
							_ = getItem(ctx, c)
							time.Sleep(time.Millisecond) // virtual time passes even if calls fail at once
						}
					})
				}
				group.Wait()
				sum += float64(server.accepted)
			})
		}
		return sum / runs
	}
	for _, callers := range []int{1, 8, 20, 50} {
		t.Run(fmt.Sprint(callers, " callers"), func(t *testing.T) {
			t.Setenv(modeVariable, "true")
			sdk := accepted(t, callers, func(server *table) *dynamodb.Client {
				options := newDynamoDB(t, server, asMiddleware, retry.Policy{}).Options()
				options.APIOptions = nil
				options.Retryer = sdkretry.NewAdaptiveMode(func(o *sdkretry.AdaptiveModeOptions) {
					o.StandardOptions = append(o.StandardOptions, func(o *sdkretry.StandardOptions) { o.MaxAttempts = 4 })
				})
				return dynamodb.New(options, func(o *dynamodb.Options) { o.RetryMode = aws.RetryModeAdaptive })
			})
			for _, f := range []form{asRetryer, asMiddleware} {
				ours := accepted(t, callers, func(server *table) *dynamodb.Client {
					policy := awspreset.Standard21.Policy(awspreset.DynamoDB)
					policy.Limiter = new(awspreset.AdaptiveLimiter)
					return newDynamoDB(t, server, f, policy)
				})
				t.Logf("accepted in 25 s: %.0f with %s, %.0f with the SDK", ours, f.name, sdk)
				assert.Greater(t, ours, 0.95*sdk, f.name)
			}
		})
	}
}
