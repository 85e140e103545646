package retryaws_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
)

// inEveryMode runs the function test in each mode of the SDK.
func inEveryMode(t *testing.T, test func(t *testing.T, cost float64)) {
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			t.Setenv(modeVariable, mode.value)
			test(t, mode.cost)
		})
	}
}

func newRetryer(t *testing.T, p retry.Policy) *retryaws.Retryer {
	t.Helper()
	r, err := retryaws.New(p)
	require.NoError(t, err)
	return r
}

// TestWrappedBudget: the budget bounds retries that only a wrapper decides, as the SDK's
// own quota does. Every STS client has such a wrapper.
func TestWrappedBudget(t *testing.T) {
	const calls = 300
	refused := slices.Repeat([]fault{refuse(400, `<ErrorResponse><Error><Code>IDPCommunicationError</Code></Error></ErrorResponse>`)}, 3*calls)
	onEveryBackend(t, func(t *testing.T, url string) {
		inEveryMode(t, func(t *testing.T, cost float64) {
			p := newProxy(t, url)
			requests := func(r aws.Retryer) int {
				p.expect(refused...)
				c := sts.New(sts.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &p.URL, Retryer: r})
				for range calls {
					_, err := c.GetCallerIdentity(t.Context(), nil)
					require.Error(t, err)
				}
				return p.count()
			}
			quota := &awspreset.TokenBudget{Capacity: 500, Costs: awspreset.TokenCosts{Transient: cost}}
			ours := requests(newRetryer(t, retry.Policy{Backoff: retry.NoDelay{}, Budget: quota}))
			theirs := requests(sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.Backoff = &retryaws.Delayer{Backoff: retry.NoDelay{}} }))
			assert.Equal(t, theirs, ours)
			assert.Less(t, ours, 2*calls)
			assert.Less(t, quota.Balance(), cost, "remaining quota")
		})
	})
}

// TestWrappedAccounts: after a failure that a wrapper retries, nothing is deposited in the
// budget, and every attempt is reported to the limiter.
func TestWrappedAccounts(t *testing.T) {
	onEveryBackend(t, func(t *testing.T, url string) {
		inEveryMode(t, func(t *testing.T, _ float64) {
			p, l := newProxy(t, url), newLedger()
			c := wrapped(p, sdkretry.AddWithErrorCodes(
				newRetryer(t, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 3, Budget: l, Limiter: l}), "Odd"))
			odd := refuse(400, `{"__type":"Odd"}`)
			denied := refuse(400, `{"__type":"AccessDeniedException"}`)

			p.expect(odd, odd)
			_, err := c.ListTables(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, map[deposit]int{{retry.ClassTransient, true}: 1}, l.deposits)
			p.expect(odd, denied)
			_, err = c.ListTables(t.Context(), nil)
			assertAPIError(t, err, "AccessDeniedException")
			p.expect(odd, odd, odd)
			_, err = c.ListTables(t.Context(), nil)
			assertAPIError(t, err, "Odd")
			assert.Equal(t, map[deposit]int{{retry.ClassTransient, true}: 1, {retry.ClassTransient, false}: 1}, l.deposits)
			assert.Equal(t, map[retry.Class]int{retry.ClassTransient: 5}, l.withdraw)
			assert.Equal(t, map[retry.Class]int{retry.ClassUnknown: 1, retry.ClassPermanent: 7}, l.observed)
		})
	})
}

func wrapped(p *proxy, r aws.Retryer) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: credentials, BaseEndpoint: &p.URL, HTTPClient: p.client(), Retryer: r,
	})
}

// TestWrappedBackoff: successes are reported once, even if a wrapper hides the retry
// numbers.
func TestWrappedBackoff(t *testing.T) {
	const calls = 8
	onEveryBackend(t, func(t *testing.T, url string) {
		inEveryMode(t, func(t *testing.T, _ float64) {
			p, l := newProxy(t, url), newLedger()
			c := wrapped(p, sdkretry.AddWithMaxBackoffDelay(newRetryer(t, retry.Policy{Budget: l, Limiter: l}), time.Millisecond))
			for range calls {
				p.despite(t, []fault{refuse(503, `{}`)}, func() error { _, err := c.ListTables(t.Context(), nil); return err })
				p.despite(t, nil, func() error { _, err := c.ListTables(t.Context(), nil); return err })
			}
			assert.Equal(t, map[deposit]int{{retry.ClassTransient, true}: calls, {retry.ClassUnknown, true}: calls}, l.deposits)
			assert.Equal(t, map[retry.Class]int{retry.ClassUnknown: 2 * calls, retry.ClassTransient: calls}, l.observed)
		})
	})
}

// TestOldWrapper: a canceled call makes no deposit, even if its token has no context.
func TestOldWrapper(t *testing.T) {
	onEveryBackend(t, func(t *testing.T, url string) {
		inEveryMode(t, func(t *testing.T, _ float64) {
			p, l := newProxy(t, url), newLedger()
			c := wrapped(p, struct{ aws.Retryer }{newRetryer(t, retry.Policy{Backoff: retry.NoDelay{}, Budget: l})})
			ctx, cancel := context.WithCancel(t.Context())
			p.expect(func(p *proxy, _ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				cancel()
				<-r.Context().Done()
			})
			_, err := c.ListTables(ctx, nil)
			require.ErrorIs(t, err, context.Canceled)
			assert.Empty(t, l.deposits)
			p.despite(t, []fault{refuse(503, `{}`)}, func() error { _, err := c.ListTables(t.Context(), nil); return err })
			assert.Equal(t, map[deposit]int{{retry.ClassTransient, true}: 1}, l.deposits)
		})
	})
}

type overriding struct {
	aws.RetryerV2
	calls int
}

func (w *overriding) IsErrorRetryable(err error) bool {
	w.calls++
	return w.RetryerV2.IsErrorRetryable(err) || errors.Is(err, errOdd)
}

var errOdd = retry.Permanent(errors.New("odd"))

// TestOverridingWrapper: retries that override the Retryer's decision cost the same as
// others.
func TestOverridingWrapper(t *testing.T) {
	inEveryMode(t, func(t *testing.T, _ float64) {
		l := newLedger()
		w := &overriding{RetryerV2: newRetryer(t, retry.Policy{Backoff: retry.NoDelay{}, Budget: l})}
		options := newDynamoDB(t, newScript(failWith(errOdd)), asMiddleware, retry.Policy{}).Options()
		options.Retryer, options.APIOptions = w, nil
		require.ErrorIs(t, getItem(t.Context(), dynamodb.New(options)), errOdd)
		assert.Equal(t, 3, w.calls)
		assert.Equal(t, map[retry.Class]int{retry.ClassTransient: 2}, l.withdraw)
	})
}
