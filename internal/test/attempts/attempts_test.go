package attempts_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/internal/test/attempts"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/retrytest"
)

var errOp = errors.New("operation failed")

// ways make the attempts of a call, each in its own way. attempt returns the error of the
// next one.
var ways = map[string]func(t *testing.T, clock *retrytest.Clock, row attempts.Row, attempt func() error) error{
	"Do": func(t *testing.T, _ *retrytest.Clock, row attempts.Row, attempt func() error) error {
		return retry.Do(t.Context(), row.Policy, func(context.Context) error { return attempt() })
	},
	"Next": func(_ *testing.T, _ *retrytest.Clock, row attempts.Row, attempt func() error) error {
		var failed retry.Attempt
		var elapsed time.Duration
		for {
			failed.Number++
			if failed.Err = attempt(); failed.Err == nil {
				return nil
			}
			var reason error
			if failed.Waited, reason = row.Policy.Next(failed, elapsed); reason != nil {
				return reason
			}
			elapsed += failed.Waited
		}
	},
	"Sequence": func(_ *testing.T, clock *retrytest.Clock, row attempts.Row, attempt func() error) error {
		sequence := adapt.NewSequence(row.Policy)
		for {
			err := attempt()
			if err == nil {
				return nil
			}
			wait, ok := sequence.Retry(err)
			if !ok {
				return err
			}
			clock.Advance(wait)
		}
	},
	"DelayFor": func(t *testing.T, _ *retrytest.Clock, row attempts.Row, attempt func() error) error {
		if row.Hint != 0 {
			t.Skip("earlier failures count as failures without hints")
		}
		for failed := 1; ; failed++ {
			err := attempt()
			if err == nil {
				return nil
			}
			if _, reason := adapt.DelayFor(row.Policy, "id", failed, err); reason != nil {
				return reason
			}
		}
	},
	"Transport": func(t *testing.T, _ *retrytest.Clock, row attempts.Row, attempt func() error) error {
		base := roundTripper(func(*http.Request) (*http.Response, error) {
			resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}
			if attempt() != nil {
				resp.StatusCode = http.StatusServiceUnavailable
				if row.Hint != 0 {
					resp.Header.Set("Retry-After", strconv.Itoa(int(row.Hint.Seconds())))
				}
			}
			return resp, nil
		})
		client := http.Client{Transport: &retryhttp.Transport{Base: base, Policy: row.Policy, PerHost: retryhttp.Unbudgeted()}}
		resp, err := client.Get("http://host/")
		require.NoError(t, err)
		return retryhttp.CheckStatus(resp)
	},
	"InTx": func(t *testing.T, _ *retrytest.Clock, row attempts.Row, attempt func() error) error {
		begin := func(context.Context) (tx, error) { return tx{}, nil }
		return retrysql.InTxFunc(t.Context(), row.Policy, begin, func(context.Context, tx) error { return attempt() })
	},
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type tx struct{}

func (tx) Commit(context.Context) error   { return nil }
func (tx) Rollback(context.Context) error { return nil }

func TestAttempts(t *testing.T) {
	for _, row := range attempts.Rows() {
		require.NoError(t, row.Policy.Validate(), row.Name)
		assert.Equal(t, row.Most, row.Policy.Attempts(), row.Name)
		for name, call := range ways {
			t.Run(row.Name+"/"+name, func(t *testing.T) {
				clock := &retrytest.Clock{}
				row.Policy.Clock = clock
				made := 0
				err := call(t, clock, row, func() error {
					if made++; made >= attempts.Enough {
						return nil
					}
					return retry.After(errOp, row.Hint)
				})
				assert.Equal(t, made == attempts.Enough, err == nil)
				assert.LessOrEqual(t, made, row.Most)
				if row.Made != 0 {
					assert.Equal(t, row.Made, made)
				} else {
					assert.Greater(t, made, 3, "more than without a limit of time")
				}
			})
		}
	}
}

// TestDelays: Delays and NewPlan have a delay for each retry, unless a hint decides.
func TestDelays(t *testing.T) {
	for _, row := range attempts.Rows() {
		if row.Made == 0 || row.Hint != 0 {
			continue
		}
		retries := 0
		for range row.Policy.Delays() {
			if retries++; retries == attempts.Enough-1 {
				break
			}
		}
		assert.Equal(t, row.Made-1, retries, row.Name)
		plan := retryconfig.NewPlan(row.Policy)
		assert.Len(t, plan.Retries[:min(attempts.Enough-1, len(plan.Retries))], row.Made-1, row.Name)
	}
}
