package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrysql"
)

var (
	errSerialization = sqlState("40001")
	errUnique        = sqlState("23505")
	errRollback      = errors.New("rollback lost")
)

func TestInTxFunc(t *testing.T) {
	const again = "begin fn commit"
	for _, test := range []struct {
		name    string
		scripts []script
		calls   string
		reason  error  // the retry.Error's Reason; nil if there is no retry.Error
		want    error  // an error that the result must match; nil: not checked
		text    string // the result's text; empty: success
	}{
		{"success", nil, again, nil, nil, ""},
		{"begin fails once", []script{{begin: io.ErrUnexpectedEOF}}, "begin " + again, nil, nil, ""},
		{"begin fails permanently", []script{{begin: sqlState("28P01")}}, "begin", nil, sqlState("28P01"), "SQLSTATE 28P01"},
		{"fn fails once", []script{{fn: errSerialization}}, "begin fn rollback " + again, nil, nil, ""},
		{"fn loses the connection", []script{{fn: safe{}, rollback: safe{}}}, "begin fn rollback " + again, nil, nil, ""},
		{"fn fails for good", []script{{fn: errUnique}}, "begin fn rollback", nil, errUnique, "SQLSTATE 23505"},
		{"fn fails always", []script{{fn: errSerialization}, {fn: errSerialization}, {fn: errSerialization}},
			"begin fn rollback begin fn rollback begin fn rollback", retry.ErrMaxAttempts, errSerialization,
			"gave up after 3 attempts (all attempts used): SQLSTATE 40001"},
		{"rollback also fails", []script{{fn: errUnique, rollback: safe{}}}, "begin fn rollback", nil, errUnique,
			"SQLSTATE 23505; rollback failed: conn closed"},
		{"commit is refused once", []script{{commit: errSerialization}}, "begin fn commit " + again, nil, nil, ""},
		{"commit is refused for good", []script{{commit: errUnique}}, "begin fn commit", nil, errUnique, "SQLSTATE 23505"},
		{"commit finds it rolled back", []script{{commit: errors.New("commit unexpectedly resulted in rollback")}}, "begin fn commit", nil, nil,
			"a statement failed before COMMIT and fn returned nil: commit unexpectedly resulted in rollback"},
		{"commit is lost", []script{{commit: io.ErrUnexpectedEOF}}, "begin fn commit", retry.ErrUnrepeatable, io.ErrUnexpectedEOF,
			"gave up after 1 attempt (not safe to repeat): COMMIT may have taken effect (see AskingDB and Once): unexpected EOF"},
		{"commit is lost, unsent by pgx", []script{{commit: safe{}}}, "begin fn commit", retry.ErrUnrepeatable, safe{},
			"gave up after 1 attempt (not safe to repeat): COMMIT may have taken effect (see AskingDB and Once): conn closed"},
		{"commit is lost, unsent by the driver", []script{{commit: driver.ErrBadConn}}, "begin fn commit", retry.ErrUnrepeatable, driver.ErrBadConn,
			"gave up after 1 attempt (not safe to repeat): COMMIT may have taken effect (see AskingDB and Once): driver: bad connection"},
		{"the server does not know the outcome of commit", []script{{commit: sqlState("40003")}}, "begin fn commit", retry.ErrUnrepeatable, sqlState("40003"),
			"gave up after 1 attempt (not safe to repeat): COMMIT may have taken effect (see AskingDB and Once): SQLSTATE 40003"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{scripts: test.scripts}
			err := retrysql.InTxFunc(t.Context(), atOnce, f.begin, f.fn)
			assert.Equal(t, test.calls, f.takeCalls())
			if test.text == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.text)
			if test.want != nil {
				require.ErrorIs(t, err, test.want)
			}
			assert.Equal(t, test.reason == retry.ErrUnrepeatable, errors.Is(err, retry.ErrUnrepeatable))
			if test.reason != nil {
				giveUp, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				assert.Equal(t, test.reason, giveUp.Reason)
			}
		})
	}
}

// TestJoinedRollback: the error of a failed rollback is joined to the failure, whose class
// stays the same.
func TestJoinedRollback(t *testing.T) {
	f := &fake{scripts: []script{{fn: errSerialization, rollback: errUnique}, {commit: errUnique, rollback: errRollback}}}
	policy := atOnce
	var class retry.Class
	policy.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
		class = failed.Class
		assert.ErrorIs(t, failed.Err, errSerialization)
		assert.ErrorIs(t, failed.Err, errUnique)
	}
	err := retrysql.InTxFunc(t.Context(), policy, func(ctx context.Context) (tx open, err error) {
		tx.fakeTx, err = f.begin(ctx)
		return tx, err
	}, func(ctx context.Context, tx open) error { return f.fn(ctx, tx.fakeTx) })
	assert.Equal(t, retry.ClassTransient, class)
	assert.ErrorIs(t, err, errUnique)
	assert.ErrorIs(t, err, errRollback)
	assert.Equal(t, "begin fn rollback begin fn commit rollback", f.takeCalls())
}

// open is a transaction that stays open if COMMIT fails, as in SQLite.
type open struct{ *fakeTx }

func (t open) Commit(ctx context.Context) error {
	err := t.fakeTx.Commit(ctx)
	t.ended = false
	return err
}

// TestEndedByFn: a transaction ended by fn may have been committed, so it is not retried.
func TestEndedByFn(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error // of fn
		text string
	}{
		{"fn succeeds", nil, "gave up after 1 attempt (not safe to repeat): fn called Commit or Rollback of the transaction, perhaps in a defer: "},
		{"fn fails", errSerialization, "gave up after 1 attempt (not safe to repeat): fn called Commit or Rollback of the transaction, perhaps in a defer: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := new(fake)
			err := retrysql.InTxFunc(t.Context(), atOnce, f.begin, func(ctx context.Context, tx *fakeTx) error {
				require.NoError(t, tx.Commit(ctx))
				return test.err
			})
			require.ErrorIs(t, err, retry.ErrUnrepeatable)
			assert.ErrorContains(t, err, test.text)

			err = retrysql.InTx(t.Context(), atOnce, f.open(t), nil, func(_ context.Context, tx *sql.Tx) error {
				require.NoError(t, tx.Commit())
				return test.err
			})
			require.ErrorIs(t, err, retry.ErrUnrepeatable)
			assert.Equal(t, "begin commit begin commit", f.takeCalls())
		})
	}
}

func TestPanic(t *testing.T) {
	f := new(fake)
	db := f.open(t)
	assert.PanicsWithValue(t, "fn", func() {
		_ = retrysql.InTx(t.Context(), atOnce, db, nil, func(context.Context, *sql.Tx) error { panic("fn") })
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = retrysql.InTx(t.Context(), atOnce, db, nil, func(context.Context, *sql.Tx) error {
			runtime.Goexit()
			return nil
		})
	}()
	<-done
	assert.Equal(t, "begin rollback begin rollback", f.takeCalls())
	assert.Zero(t, db.Stats().InUse)
}

// TestContext: if the context ends before COMMIT, the rollback gets a context that is
// still live.
func TestContext(t *testing.T) {
	for _, test := range []struct {
		name  string
		end   func(cancel context.CancelFunc) error // called by fn
		calls string
	}{
		{"fn returns the error", func(cancel context.CancelFunc) error { cancel(); return context.Canceled }, "begin rollback"},
		{"fn returns nil", func(cancel context.CancelFunc) error { cancel(); return nil }, "begin rollback"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f := new(fake)
			err := retrysql.InTxFunc(ctx, atOnce, f.begin, func(context.Context, *fakeTx) error { return test.end(cancel) })
			require.ErrorIs(t, err, context.Canceled)
			assert.NotErrorIs(t, err, retry.ErrUnrepeatable)
			assert.Equal(t, test.calls, f.takeCalls())
			assert.ErrorIs(t, retrysql.InTxFunc(ctx, atOnce, f.begin, f.fn), context.Canceled)
			assert.Empty(t, f.takeCalls(), "no transaction begins after the context has ended")
		})
	}
}

// TestAttemptTimeout: an attempt that exceeds its time limit is retried, even if
// database/sql has already rolled back.
func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := new(fake)
		policy := atOnce
		policy.AttemptTimeout = time.Second
		attempts := 0
		require.NoError(t, retrysql.InTx(t.Context(), policy, f.open(t), nil, func(ctx context.Context, _ *sql.Tx) error {
			if attempts++; attempts == 1 {
				<-ctx.Done()
				synctest.Wait()
			}
			return nil
		}))
		assert.Equal(t, "begin rollback begin commit", f.takeCalls())
	})
}

// TestUnusablePolicy: what would panic at the first failure is refused before a transaction
// begins.
func TestUnusablePolicy(t *testing.T) {
	f := new(fake)
	err := retrysql.InTxFunc(t.Context(), retry.Policy{Budget: (*awspreset.TokenBudget)(nil)}, f.begin, f.fn)
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.ErrorContains(t, err, "Budget is a nil *awspreset.TokenBudget")
	assert.Empty(t, f.takeCalls())
}

func TestNested(t *testing.T) {
	f := new(fake)
	db := f.open(t)
	err := retrysql.InTx(t.Context(), atOnce, db, nil, func(ctx context.Context, _ *sql.Tx) error {
		err := retrysql.InTxFunc(ctx, atOnce, f.begin, f.fn)
		assert.ErrorIs(t, err, retry.ErrInvalid)
		return retrysql.InTx(ctx, atOnce, db, nil, func(context.Context, *sql.Tx) error { return nil })
	})
	require.ErrorIs(t, err, retry.ErrInvalid)
	assert.Equal(t, "begin rollback", f.takeCalls(), "the outer transaction is not retried")
}

// TestInTx: InTx accepts a pool and a single connection, and passes opts to BeginTx.
func TestInTx(t *testing.T) {
	f := &fake{scripts: []script{{commit: errSerialization}, {}, {commit: io.EOF}}}
	db := f.open(t)
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	var kept *sql.Tx
	opts := &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true}
	keep := func(_ context.Context, tx *sql.Tx) error { kept = tx; return nil }
	require.NoError(t, retrysql.InTx(t.Context(), atOnce, conn, opts, keep))
	assert.Equal(t, "begin commit begin commit", f.takeCalls())
	assert.Equal(t, driver.TxOptions{Isolation: driver.IsolationLevel(sql.LevelSerializable), ReadOnly: true}, f.opts)
	assert.Equal(t, sql.ErrTxDone, kept.Rollback())
	require.NoError(t, conn.Close())
	require.ErrorIs(t, retrysql.InTx(t.Context(), atOnce, db, nil, keep), retry.ErrUnrepeatable)
	require.NoError(t, retrysql.InTx(t.Context(), atOnce, db, nil, keep))
	assert.Equal(t, 1, db.Stats().OpenConnections)
	assert.Zero(t, db.Stats().InUse)
	assert.Equal(t, "begin commit begin commit", f.takeCalls())
	assert.Equal(t, sql.ErrConnDone, retrysql.InTx(t.Context(), atOnce, conn, nil, keep), "returned without a retry")
}

// TestRefused: invalid calls begin no transaction.
func TestRefused(t *testing.T) {
	f := new(fake)
	db := f.open(t)
	fn := func(context.Context, *sql.Tx) error { return nil }
	var none context.Context
	for name, err := range map[string]error{
		"no db":           retrysql.InTx(t.Context(), atOnce, nil, nil, fn),
		"no fn":           retrysql.InTx(t.Context(), atOnce, db, nil, nil),
		"no context":      retrysql.InTx(none, atOnce, db, nil, fn),
		"no begin":        retrysql.InTxFunc(t.Context(), atOnce, nil, f.fn),
		"no fn, InTxFunc": retrysql.InTxFunc(t.Context(), atOnce, f.begin, nil),
		"bad policy":      retrysql.InTx(t.Context(), retry.Policy{MaxAttempts: -1}, db, nil, fn),
	} {
		assert.ErrorIs(t, err, retry.ErrInvalid, name)
	}
	assert.Empty(t, f.takeCalls())
}

// TestMarkers: fn's marks and the policy's Classifier decide whether an attempt is retried.
func TestMarkers(t *testing.T) {
	f := &fake{scripts: []script{{fn: retry.Transient(errUnique)}, {fn: retry.Permanent(errSerialization)}}}
	assert.ErrorIs(t, retrysql.InTxFunc(t.Context(), atOnce, f.begin, f.fn), errSerialization)
	assert.Equal(t, "begin fn rollback begin fn rollback", f.takeCalls())

	policy := atOnce
	policy.Classifier = retry.ClassifierFunc(func(err error) retry.Verdict {
		assert.Equal(t, errUnique, err, "the Classifier gets the error of fn, not the joined error")
		return retry.Verdict{Class: retry.ClassTransient}
	})
	f.scripts = []script{{fn: errUnique, rollback: errRollback}}
	require.NoError(t, retrysql.InTxFunc(t.Context(), policy, f.begin, f.fn))
}

// TestUnrepeatable: what DefaultClassifier calls unrepeatable runs again, because a statement
// takes effect only with COMMIT; what a marker or another Classifier calls so does not.
func TestUnrepeatable(t *testing.T) {
	mailed, lost := errors.New("mail sent"), errors.New("invalid connection")
	mine := retry.ClassifierFunc(func(err error) retry.Verdict { return retry.Verdict{Unrepeatable: errors.Is(err, mailed)} })
	for _, test := range []struct {
		name       string
		classifier retry.Classifier
		err        error
		calls      string
	}{
		{"by default", nil, lost, "begin fn rollback begin fn commit"},
		{"by default, after another Classifier", retry.FirstOf(mine, retry.DefaultClassifier{}), lost, "begin fn rollback begin fn commit"},
		{"another Classifier", mine, mailed, "begin fn rollback"},
		{"another Classifier, before the default one", retry.FirstOf(mine, retry.DefaultClassifier{}), mailed, "begin fn rollback"},
		{"a marker", nil, retry.Unrepeatable(mailed), "begin fn rollback"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{scripts: []script{{fn: test.err}}}
			policy := atOnce
			policy.Classifier = test.classifier
			err := retrysql.InTxFunc(t.Context(), policy, f.begin, f.fn)
			assert.Equal(t, test.calls, f.takeCalls())
			assert.Equal(t, errors.Is(test.err, mailed), errors.Is(err, retry.ErrUnrepeatable))
		})
	}
}

// TestWriteInReadOnly: a transaction that was begun as read-only refuses its writes again.
func TestWriteInReadOnly(t *testing.T) {
	f := new(fake)
	err := retrysql.InTx(t.Context(), atOnce, f.open(t), &sql.TxOptions{ReadOnly: true}, func(context.Context, *sql.Tx) error { return errReadOnly })
	assert.ErrorIs(t, err, errReadOnly)
	assert.ErrorContains(t, err, "read-only: ")
	assert.Equal(t, "begin rollback", f.takeCalls())
	assert.Zero(t, f.closed)
}

// TestContextEndsWithBegin: a transaction that database/sql rolls back, because the context
// has ended, is not looked at. With the race detector, this fails otherwise.
func TestContextEndsWithBegin(t *testing.T) {
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		db := canceling{(&fake{}).open(t), cancel}
		err := retrysql.InTx(ctx, atOnce, db, nil, func(context.Context, *sql.Tx) error {
			t.Error("fn is called")
			return nil
		})
		assert.ErrorIs(t, err, context.Canceled)
	}
}

// canceling cancels the context of the call when a transaction has begun.
type canceling struct {
	*sql.DB
	cancel context.CancelFunc
}

func (c canceling) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	tx, err := c.DB.BeginTx(ctx, opts)
	c.cancel()
	return tx, err
}
