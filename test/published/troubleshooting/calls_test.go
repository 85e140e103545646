package troubleshooting

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// calls are programs that call Do.
var calls = map[string]program{
	"`gave up after 3 attempts (all attempts used)`": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}}
		if mended {
			policy.MaxAttempts = 5
		}
		return retry.Do(t.Context(), policy, retrytest.Fail(4, io.EOF).Run)
	},
	"`backoff allows no further attempt`": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}}
		policy.Backoff = retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { return -1 })
		if mended {
			policy.Backoff = retry.FullJitter{Base: 100 * time.Millisecond, Cap: 10 * time.Second}
		}
		return retry.Do(t.Context(), policy, retrytest.Fail(2, io.EOF).Run)
	},
	"`time limit of the policy, next wait`": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}, MaxElapsed: time.Second}
		if mended {
			policy.MaxElapsed = time.Minute
		}
		return retry.Do(t.Context(), policy, retrytest.Fail(2, retry.After(io.EOF, 5*time.Second)).Run)
	},
	"`wait would outlast the context: context deadline exceeded`": func(t *testing.T, mended bool) (err error) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if mended {
				ctx = t.Context()
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				err = retry.Do(ctx, quick, retrytest.Fail(2, retry.After(io.EOF, 5*time.Second)).Run)
				return
			}
			err = retry.Do(ctx, quick, retrytest.Fail(2, retry.After(io.EOF, 5*time.Second)).Run)
		})
		return err
	},
	"`client-side retry budget used up`": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}, Budget: &retry.SharedBudget{}, MaxElapsed: time.Minute}
		if mended {
			policy.Budget = retry.NoBudget{}
		}
		for range 10 { // workers
			err := retry.Do(t.Context(), policy, retrytest.Fail(5, io.EOF).Run)
			if err != nil {
				return err
			}
		}
		return nil
	},
	"`server asks for too long a wait`": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}, Hint: retry.HintOrGiveUp{Max: 10 * time.Second}}
		if mended {
			policy.Hint = retry.HintOrGiveUp{Max: 2 * time.Minute}
		}
		return retry.Do(t.Context(), policy, retrytest.Fail(2, retry.After(io.EOF, time.Minute)).Run)
	},
	"`not safe to repeat; retry.Transient overrides this`": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}}
		lost := retrytest.Fail(1, mysql.ErrInvalidConn)
		return retry.Do(t.Context(), policy, func(ctx context.Context) error {
			err := lost.Run(ctx)
			if mended {
				return retry.Transient(err)
			}
			return err
		})
	},
	"`attempt exceeded`": func(t *testing.T, mended bool) (err error) {
		synctest.Test(t, func(t *testing.T) {
			policy := retry.Policy{AttemptTimeout: time.Second}
			if mended {
				policy.AttemptTimeout = 10 * time.Second
			}
			err = retry.Do(t.Context(), policy, func(ctx context.Context) error {
				return retry.SystemClock{}.Sleep(ctx, 3*time.Second)
			})
		})
		return err
	},
	"`invalid retry policy`": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Backoff: retry.FullJitter{Base: -time.Second}}
		if mended {
			policy.Backoff = retry.FullJitter{Base: 100 * time.Millisecond, Cap: 10 * time.Second}
		}
		err := policy.Validate()
		return err
	},
	"`context canceled`, after one attempt": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}}
		calls := 0
		return retry.Do(t.Context(), policy, func(ctx context.Context) error {
			calls++
			if calls > 1 {
				return nil
			}
			first, second := io.EOF, fmt.Errorf("part 2: %w", context.Canceled)
			if mended {
				return errors.Join(first, second)
			}
			return second
		})
	},
	"`sql: no rows in result set`": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}}
		row := retrytest.Fail(1, sql.ErrNoRows)
		return retry.Do(t.Context(), policy, func(ctx context.Context) error {
			err := row.Run(ctx)
			if mended && errors.Is(err, sql.ErrNoRows) {
				return retry.Transient(err)
			}
			return err
		})
	},
}
