package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/retrytest"
)

var noEffect = func(context.Context, *sql.Tx) error { return nil }

// TestAskingDB: what follows a lost COMMIT, by the answers of the database.
func TestAskingDB(t *testing.T) {
	const once, twice = "begin commit", "begin commit begin commit"
	for _, test := range []struct {
		name    string
		number  string
		answers []string // the last one repeats; "": the question fails
		calls   string
		unknown string // part of the error's text; "": success
		elapsed time.Duration
	}{
		{"committed", "7", []string{"committed"}, once, "", 0},
		{"aborted", "7", []string{"aborted"}, twice, "", 0},
		{"nothing written", "", nil, twice, "", 0},
		{"in progress", "7", []string{"in progress", "in progress", "committed"}, once, "", 200 * time.Millisecond},
		{"a failed question", "7", []string{"", "another server", "aborted"}, twice, "", 200 * time.Millisecond},
		{"another server", "7", []string{"another server"}, once, "no answer yet: another server", 5 * time.Second},
		{"forgotten", "7", []string{"forgotten"}, once, "no answer yet: forgotten", 5 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{scripts: []script{{commit: io.ErrUnexpectedEOF}}}
				f.answer = func(query string, _ []driver.NamedValue) ([]driver.Value, error) {
					if !strings.Contains(query, "pg_xact_status") {
						return []driver.Value{test.number, "system/1/2"}, nil
					}
					assert.Contains(t, query, "= 'system/1/2' THEN coalesce(pg_xact_status('7'::xid8)")
					answer := test.answers[0]
					if len(test.answers) > 1 {
						test.answers = test.answers[1:]
					}
					if answer == "" {
						return nil, io.ErrUnexpectedEOF
					}
					return []driver.Value{answer}, nil
				}
				start := time.Now()
				policy := retry.Policy{Backoff: retry.Constant(time.Hour), MaxAttempts: 2} // not between questions
				policy.Clock = skipping{}
				err := retrysql.InTx(t.Context(), policy, retrysql.AskingDB(f.open(t)), nil, noEffect)
				assert.Equal(t, test.calls, f.takeCalls())
				assert.InDelta(t, test.elapsed.Seconds(), time.Since(start).Seconds(), 0.1+test.elapsed.Seconds()/10)
				if test.unknown == "" {
					require.NoError(t, err)
					return
				}
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				assert.ErrorContains(t, err, "COMMIT may have taken effect: unexpected EOF; asking the database failed: ")
				assert.ErrorContains(t, err, test.unknown)
			})
		})
	}
}

// TestPauses: questions are rare even if the policy has no delays.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{commit: io.EOF}}}
		questions := 0
		begin := retrysql.Asking(f.begin, func(context.Context, string, ...any) result {
			questions++
			return result{"in progress"}
		}, func(*fakeTx, context.Context, string, ...any) result { return result{"7", "system"} })
		assert.ErrorIs(t, retrysql.InTxFunc(t.Context(), atOnce, begin, f.fn), retry.ErrUnrepeatable)
		assert.GreaterOrEqual(t, questions, 10)
		assert.LessOrEqual(t, questions, 25)
	})
}

// TestPausesOfClock: the question is repeated for five seconds of the policy's Clock, whatever
// its time is.
func TestPausesOfClock(t *testing.T) {
	for _, year := range []int{2000, 2200} {
		clock := &retrytest.Clock{Start: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}
		f := &fake{scripts: []script{{commit: io.EOF}}}
		questions := 0
		begin := retrysql.Asking(f.begin, func(context.Context, string, ...any) result {
			if questions++; questions == 1000 { // for ever
				return result{"committed"}
			}
			return result{"in progress"}
		}, func(*fakeTx, context.Context, string, ...any) result { return result{"7", "system"} })
		assert.ErrorIs(t, retrysql.InTxFunc(t.Context(), retry.Policy{Clock: clock}, begin, f.fn), retry.ErrUnrepeatable)
		assert.GreaterOrEqual(t, questions, 10)
		assert.LessOrEqual(t, questions, 25)
	}
}

// skipping is a clock that skips long waits.
type skipping struct{ retry.SystemClock }

func (c skipping) Sleep(ctx context.Context, d time.Duration) error {
	if d > time.Minute {
		return ctx.Err()
	}
	return c.SystemClock.Sleep(ctx, d)
}

// TestAskingAfterContext: the question is asked even if the context has ended.
func TestAskingAfterContext(t *testing.T) {
	for answer, want := range map[string]error{"committed": nil, "aborted": context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		f := &fake{scripts: []script{{commit: io.ErrUnexpectedEOF}}}
		rows := func(_ context.Context, query string, _ ...any) result {
			if strings.Contains(query, "pg_xact_status") {
				cancel()
				return result{answer}
			}
			return result{"7", "system"}
		}
		begin := retrysql.Asking(f.begin, rows, func(_ *fakeTx, ctx context.Context, query string, args ...any) result {
			return rows(ctx, query, args...)
		})
		err := retrysql.InTxFunc(ctx, atOnce, begin, f.fn)
		assert.ErrorIs(t, err, want, answer)
		assert.NotErrorIs(t, err, retry.ErrUnrepeatable)
	}
}

type result []string

func (r result) Scan(dest ...any) error {
	for i := range dest {
		*dest[i].(*string) = r[i]
	}
	return nil
}

// TestNoteFails: an attempt whose number cannot be read is rolled back.
func TestNoteFails(t *testing.T) {
	f := new(fake)
	f.answer = func(string, []driver.NamedValue) ([]driver.Value, error) { return nil, sqlState("42883") }
	err := retrysql.InTx(t.Context(), atOnce, retrysql.AskingDB(f.open(t)), nil, noEffect)
	assert.ErrorIs(t, err, sqlState("42883"))
	assert.Equal(t, "begin rollback", f.takeCalls())
}

// TestAskingAlone: begin works outside InTxFunc, too.
func TestAskingAlone(t *testing.T) {
	f := new(fake)
	tx, err := retrysql.AskingDB(f.open(t)).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Equal(t, "begin commit", f.takeCalls())
}
