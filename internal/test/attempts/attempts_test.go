package attempts_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/internal/test/attempts"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/transfer"
	"github.com/gobackoff/retry/retrykeep"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/retrytest"
)

var errOp = errors.New("operation failed")

// ways make the attempts of a call, each in its own way. attempt returns the error of the
// next one.
var ways = map[string]func(t *testing.T, clock retry.Clock, row attempts.Row, attempt func() error) error{
	"Do": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		return retry.Do(t.Context(), row.Policy, func(context.Context) error { return attempt() })
	},
	"Call": func(t *testing.T, clock retry.Clock, row attempts.Row, attempt func() error) error {
		call := row.Policy.Start()
		for {
			err := attempt()
			if err == nil {
				return nil
			}
			wait, reason := call.Failed(t.Context(), err)
			if reason != nil {
				return call.GiveUp(t.Context(), reason)
			}
			_ = clock.Sleep(t.Context(), wait)
		}
	},
	"Resume": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		var waited, elapsed time.Duration
		for failures := 0; ; failures++ {
			err := attempt()
			if err == nil {
				return nil
			}
			wait, reason := row.Policy.Resume(failures, waited, elapsed).Failed(t.Context(), err)
			if reason != nil {
				return reason
			}
			waited = wait
			elapsed += wait
		}
	},
	"Sequence": func(t *testing.T, clock retry.Clock, row attempts.Row, attempt func() error) error {
		sequence := adapt.NewSequence(row.Policy)
		for {
			err := attempt()
			if err == nil {
				return nil
			}
			wait, ok := sequence.Retry(err)
			if !ok {
				return fmt.Errorf("%w: %w", errNoReason, err)
			}
			_ = clock.Sleep(t.Context(), wait)
		}
	},
	"DelayFor": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
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
	"Settle": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		if row.Hint != 0 {
			t.Skip("earlier failures count as failures without hints")
		}
		for number := 1; ; number++ {
			outcome := adapt.Settle(t.Context(), row.Policy, "id", number, attempt())
			switch outcome.Action {
			case adapt.Ack:
				return nil
			case adapt.DeadLetter:
				return outcome.Err
			}
		}
	},
	"Lease": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		lease := &retryhttp.Lease[string]{Policy: row.Policy, Renew: func(context.Context, string) (string, error) { return "token", attempt() }}
		_, err := lease.Get(t.Context())
		return err
	},
	"Download": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		download := &transfer.Download{Client: &http.Client{Transport: answering(row, attempt)}, Policy: row.Policy, URL: "http://host/"}
		return download.To(t.Context(), io.Discard)
	},
	"Transport": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		row.Policy.Budget = retry.NoBudget{}
		// A Limiter would learn from the hints, and wait instead of the policy.
		client := http.Client{Transport: &retryhttp.Transport{Base: answering(row, attempt), Policy: row.Policy, PerScope: retryhttp.Unlimited()}}
		resp, err := client.Get("http://host/")
		if err != nil {
			return err
		}
		return retryhttp.CheckStatus(resp)
	},
	"InTx": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		begin := func(context.Context) (tx, error) { return tx{}, nil }
		return retrysql.InTxFunc(t.Context(), row.Policy, begin, func(context.Context, tx) error { return attempt() })
	},
}

// answering is a server that responds with a status 503 for a failure, and with that of an inner loop
// as its error.
func answering(row attempts.Row, attempt func() error) http.RoundTripper {
	return roundTripper(func(*http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}
		err := attempt()
		if errors.As(err, new(*retry.Error)) {
			return nil, err
		}
		if err != nil {
			resp.StatusCode = http.StatusServiceUnavailable
			if row.Hint != 0 {
				resp.Header.Set("Retry-After", strconv.Itoa(int(row.Hint.Seconds())))
			}
		}
		return resp, nil
	})
}

// anew are the ways in which a policy without a bound has other attempts than in Do: MaxAttempts 0
// means no bound for a Keeper.
var anew = map[string]func(t *testing.T, clock retry.Clock, row attempts.Row, attempt func() error) error{
	"Keeper": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		k := &retrykeep.Keeper{Policy: row.Policy}
		return k.Run(t.Context(), func(context.Context, func()) error {
			err := attempt()
			if err == nil {
				return retry.Permanent(errEnough)
			}
			return err
		})
	},
	"Batch": func(t *testing.T, _ retry.Clock, row attempts.Row, attempt func() error) error {
		batch := retrybatch.Batch[int]{Policy: row.Policy, MayRepeat: func(int) bool { return true }}
		_, err := retrybatch.Do(t.Context(), batch, []int{1}, func(context.Context, []int) (map[int]error, error) {
			return nil, attempt()
		})
		return err
	},
}

// queues are the ways to which an inner loop that gave up is one failure.
var queues = []string{"DelayFor", "Settle", "Keeper", "Download"}

var (
	errEnough   = errors.New("enough")
	errNoReason = errors.New("a Sequence does not say why it ends")
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type tx struct{}

func (tx) Commit(context.Context) error   { return nil }
func (tx) Rollback(context.Context) error { return nil }

// TestAttempts: a policy means the same number of attempts in each way, whatever its clock.
func TestAttempts(t *testing.T) {
	for _, row := range attempts.Rows() {
		require.NoError(t, row.Policy.Validate(), row.Name)
		assert.Equal(t, row.Most, row.Policy.Attempts(), row.Name)
		for name, call := range ways {
			for age, clock := range attempts.Clocks() {
				t.Run(row.Name+"/"+name+"/"+age, func(t *testing.T) {
					compare(t, clock, row, call)
				})
			}
		}
		if row.Policy.MaxAttempts == 0 || row.Hint != 0 {
			continue
		}
		for name, call := range anew {
			for age, clock := range attempts.Clocks() {
				t.Run(row.Name+"/"+name+"/"+age, func(t *testing.T) {
					compare(t, clock, row, call)
				})
			}
		}
	}
}

func compare(t *testing.T, clock retry.Clock, row attempts.Row, call func(*testing.T, retry.Clock, attempts.Row, func() error) error) {
	t.Helper()
	row.Policy.Clock = clock
	made := 0
	err := call(t, clock, row, func() error {
		made++
		if made >= attempts.Enough {
			return nil
		}
		return retry.After(errOp, row.Hint)
	})
	assert.Equal(t, made == attempts.Enough, err == nil || errors.Is(err, errEnough))
	assert.LessOrEqual(t, made, row.Most)
	if row.Made != 0 {
		assert.Equal(t, row.Made, made)
	} else {
		assert.Greater(t, made, 3, "more than without a limit of time")
	}
	if row.Ends() && !errors.Is(err, errNoReason) {
		assert.ErrorIs(t, err, retry.ErrBackoff)
	}
}

// TestGaveUp: if a loop inside an attempt has given up, no other loop makes its attempts again,
// unless it is a queue, a connection or a download, which go on: there, the last failure decides.
func TestGaveUp(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		queue  int // attempts of those that go on
		direct int
	}{
		"transient":      {&retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts, Attempts: 3}, 4, 1},
		"its rule ended": {&retry.Error{Err: errOp, Reason: retry.ErrBackoff, Attempts: 3}, 4, 1},
		"permanent":      {&retry.Error{Err: retry.Permanent(errOp), Reason: retry.ErrMaxAttempts, Attempts: 3}, 1, 1},
		"marked":         {retry.Transient(&retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts, Attempts: 3}), 4, 4},
	} {
		all := maps.Clone(ways)
		maps.Copy(all, anew)
		for way, call := range all {
			t.Run(name+"/"+way, func(t *testing.T) {
				row := attempts.Row{Policy: retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 4, Clock: &retrytest.Clock{}}}
				made := 0
				err := call(t, row.Policy.Clock, row, func() error {
					made++
					return tt.err
				})
				assert.Error(t, err)
				want := tt.direct
				if slices.Contains(queues, way) {
					want = tt.queue
				}
				assert.Equal(t, want, made)
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
