package retrysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// slow is a transaction whose COMMIT and rollback take a second, or until their context ends.
type slow struct {
	*fakeTx
	took time.Duration
}

func (s slow) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.took):
		return nil
	}
}

func (s slow) Commit(ctx context.Context) error {
	return errors.Join(s.wait(ctx), s.fakeTx.Commit(ctx))
}

func (s slow) Rollback(ctx context.Context) error {
	return errors.Join(s.wait(ctx), s.fakeTx.Rollback(context.Background()))
}

// slowSQL is a slow transaction like that of database/sql, whose driver knows only the
// context of begin.
type slowSQL struct {
	slow
	life context.Context
}

func (s slowSQL) Commit() error   { return s.slow.Commit(s.life) }
func (s slowSQL) Rollback() error { return s.slow.Rollback(s.life) }

// TestGraceOfDrivers: the context of begin ends with the time for the rollback, and when the
// call ends.
func TestGraceOfDrivers(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Minute: 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			refusal := retry.Permanent(errors.New("refused"))
			var life context.Context
			start := time.Now()
			err := retrysql.InTxFunc(t.Context(), atOnce, func(ctx context.Context) (slowSQL, error) {
				life = ctx
				tx, err := new(fake).begin(ctx)
				return slowSQL{slow{tx, took}, ctx}, err
			}, func(context.Context, slowSQL) error { return refusal })
			assert.ErrorIs(t, err, refusal)
			assert.Equal(t, want, time.Since(start))
			assert.ErrorIs(t, life.Err(), context.Canceled)
		})
	}
}

// TestGrace: COMMIT and rollback may take five seconds longer than the context lasts.
func TestGrace(t *testing.T) {
	refusal := retry.Permanent(errors.New("refused"))
	for _, test := range []struct {
		name      string
		took      time.Duration // by COMMIT or rollback
		fn        error
		unlimited bool
		want      error // nil: success
		elapsed   time.Duration
	}{
		{"COMMIT within the context", 0, nil, false, nil, time.Second},
		{"COMMIT within the grace", 3 * time.Second, nil, false, nil, 4 * time.Second},
		{"COMMIT beyond the grace", time.Minute, nil, false, retry.ErrUnrepeatable, 12 * time.Second},
		{"COMMIT without a time limit", time.Minute, nil, true, nil, 61 * time.Second},
		{"rollback within the grace", 3 * time.Second, refusal, false, refusal, 4 * time.Second},
		{"rollback beyond the grace", time.Minute, refusal, false, refusal, 6 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				if test.unlimited {
					ctx, cancel = context.WithCancel(t.Context())
				}
				defer cancel()
				f := new(fake)
				start := time.Now()
				err := retrysql.InTxFunc(ctx, atOnce, func(ctx context.Context) (slow, error) {
					tx, err := f.begin(ctx)
					return slow{tx, test.took}, err
				}, func(context.Context, slow) error {
					time.Sleep(time.Second)
					return test.fn
				})
				assert.ErrorIs(t, err, test.want)
				assert.Equal(t, test.elapsed, time.Since(start))
			})
		})
	}
}

// TestBeginOutlived: the context ends just after begin, which then has begun in vain.
func TestBeginOutlived(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := new(fake)
	err := retrysql.InTx(ctx, atOnce, f.open(t), nil, func(context.Context, *sql.Tx) error { return nil })
	require.NoError(t, err)
	err = retrysql.InTxFunc(ctx, atOnce, func(ctx context.Context) (*fakeTx, error) {
		tx, err := f.begin(ctx)
		cancel()
		<-ctx.Done()
		return tx, err
	}, f.fn)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "begin commit begin rollback", f.takeCalls())
}

// closing is a transaction with a connection like that of pgx.
type closing struct {
	*fakeTx
	conn *closingConn
}

func (c closing) Conn() *closingConn {
	c.conn.status = 'T'
	if c.fakeTx.fn != nil {
		c.conn.status = 'E'
	}
	return c.conn
}

// closingConn counts how often it is closed.
type closingConn struct {
	closed int
	err    error
	status byte
}

func (c *closingConn) PgConn() *closingConn          { return c }
func (c *closingConn) TxStatus() byte                { return c.status }
func (c *closingConn) ParameterStatus(string) string { return "" }

func (c *closingConn) Close(context.Context) error { c.closed++; return c.err }

// otherConn is a transaction whose method Conn has another form than that of pgx.
type otherConn struct{ *fakeTx }

func (otherConn) Conn(context.Context) *closingConn { panic("called") }

var errReadOnly = sqlState("25006")

// TestReadOnly: the connection to a server that accepts no writes is closed, after which a
// rollback need not succeed.
func TestReadOnly(t *testing.T) {
	for _, test := range []struct {
		name     string
		fn       error
		conn     closingConn
		closed   int
		rollback bool // whether the error of the rollback is reported
	}{
		{"closed", errReadOnly, closingConn{}, 1, false},
		{"cannot be closed", errReadOnly, closingConn{err: errRollback}, 1, true},
		{"another failure", errSerialization, closingConn{}, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{scripts: []script{{fn: test.fn, rollback: safe{}}}}
			policy := atOnce
			policy.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
				assert.ErrorIs(t, failed.Err, test.fn)
				assert.Equal(t, test.rollback, errors.Is(failed.Err, safe{}))
			}
			require.NoError(t, retrysql.InTxFunc(t.Context(), policy, func(ctx context.Context) (closing, error) {
				tx, err := f.begin(ctx)
				return closing{tx, &test.conn}, err
			}, func(ctx context.Context, tx closing) error { return f.fn(ctx, tx.fakeTx) }))
			assert.Equal(t, test.closed, test.conn.closed)
			assert.Equal(t, "begin fn rollback begin fn commit", f.takeCalls())
		})
	}
	t.Run("ended by fn", func(t *testing.T) {
		f := new(fake)
		err := retrysql.InTxFunc(t.Context(), atOnce, func(ctx context.Context) (closing, error) {
			tx, err := f.begin(ctx)
			return closing{tx, new(closingConn)}, err
		}, func(ctx context.Context, tx closing) error { return errors.Join(tx.Commit(ctx), errReadOnly) })
		assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		assert.Equal(t, "begin commit", f.takeCalls())
	})
}

// TestForget: after a step that fails because of its server, none of the pool's idle
// connections serves the next attempt.
func TestForget(t *testing.T) {
	shutdown, lost := sqlState("57P01"), &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, test := range []struct {
		name    string
		script  script
		forgets bool
		calls   string
	}{
		{"read-only begin", script{begin: errReadOnly}, true, "begin begin commit"},
		{"read-only statement", script{fn: errReadOnly}, true, "begin rollback begin commit"},
		{"read-only COMMIT", script{commit: errReadOnly}, true, "begin commit begin commit"},
		{"shutdown", script{fn: shutdown}, true, "begin rollback begin commit"},
		{"lost begin", script{begin: lost}, true, "begin begin commit"},
		{"lost before begin", script{begin: safe{}}, true, "begin begin commit"},
		{"lost statement", script{fn: lost, rollback: safe{}}, true, "begin rollback begin commit"},
		{"lost request to another service", script{fn: lost}, false, "begin rollback begin commit"},
		{"conflict at begin", script{begin: errSerialization}, false, "begin begin commit"},
		{"conflict of a statement", script{fn: errSerialization}, false, "begin rollback begin commit"},
		{"conflict at COMMIT", script{commit: errSerialization}, false, "begin commit begin commit"},
	} {
		for _, connections := range []int{1, 8} {
			t.Run(fmt.Sprint(test.name, " ", connections), func(t *testing.T) {
				f := &fake{scripts: []script{test.script}}
				db := f.open(t)
				db.SetMaxIdleConns(connections)
				fill(t, db, connections)
				require.NoError(t, retrysql.InTx(t.Context(), atOnce, db, nil, func(context.Context, *sql.Tx) error { return f.current.fn }))
				closed := 0
				if test.forgets {
					closed = connections
				}
				assert.Equal(t, closed, f.closed)
				assert.Equal(t, test.calls, f.takeCalls())
			})
		}
	}
}

// fill opens connections of a pool.
func fill(t *testing.T, db *sql.DB, connections int) {
	t.Helper()
	open := make([]*sql.Conn, connections)
	for i := range open {
		var err error
		open[i], err = db.Conn(t.Context())
		require.NoError(t, err)
	}
	for _, conn := range open {
		require.NoError(t, conn.Close())
	}
}

// TestResetting: transactions that one failure meets reset their pool once.
func TestResetting(t *testing.T) {
	f := &fake{scripts: []script{{fn: errSerialization}, {fn: errReadOnly}, {commit: errReadOnly}}}
	resets := 0
	begin := retrysql.Resetting(f.begin, func() { resets++ })
	require.NoError(t, retrysql.InTxFunc(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 4}, begin, f.fn))
	assert.Equal(t, 2, resets)

	f.scripts, resets = []script{{fn: errReadOnly}, {fn: errReadOnly}}, 0
	once := retry.Policy{MaxAttempts: 1}
	assert.Error(t, retrysql.InTxFunc(t.Context(), once, begin, func(ctx context.Context, tx *fakeTx) error {
		// Another transaction, of another caller, meets the failure at the same time.
		assert.Error(t, retrysql.InTxFunc(context.WithoutCancel(t.Context()), once, begin, f.fn))
		return tx.fn
	}))
	assert.Equal(t, 1, resets)
}

// TestReadOnlyOther: the connection of another package's transaction stays as it is, and a
// failed rollback is reported.
func TestReadOnlyOther(t *testing.T) {
	f := &fake{scripts: []script{{fn: errReadOnly, rollback: safe{}}, {fn: errReadOnly, rollback: safe{}}}}
	policy := atOnce
	policy.MaxAttempts = 1
	assert.ErrorIs(t, retrysql.InTxFunc(t.Context(), policy, f.begin, f.fn), safe{})
	err := retrysql.InTxFunc(t.Context(), policy, func(ctx context.Context) (otherConn, error) {
		tx, err := f.begin(ctx)
		return otherConn{tx}, err
	}, func(ctx context.Context, tx otherConn) error { return f.fn(ctx, tx.fakeTx) })
	assert.ErrorIs(t, err, safe{})
	assert.Equal(t, "begin fn rollback begin fn rollback", f.takeCalls())
}

// TestUnknownForm: a transaction that InTxFunc cannot end is an invalid call.
func TestUnknownForm(t *testing.T) {
	begun := 0
	err := retrysql.InTxFunc(t.Context(), atOnce, func(context.Context) (int, error) { begun++; return 0, nil },
		func(context.Context, int) error { t.Error("called"); return nil })
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Equal(t, 1, begun)
}
