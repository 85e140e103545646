package retrysql_test

import (
	"context"
	"database/sql"
	"errors"
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
	closed *int
}

func (c closing) Conn() closing { return c }

func (c closing) Close(context.Context) error { *c.closed++; return nil }

// TestReadOnly: the connection to a server that accepts no writes is closed.
func TestReadOnly(t *testing.T) {
	readOnly := sqlState("25006")
	t.Run("pgx", func(t *testing.T) {
		closed := 0
		f := &fake{scripts: []script{{fn: readOnly, rollback: safe{}}}}
		require.NoError(t, retrysql.InTxFunc(t.Context(), atOnce, func(ctx context.Context) (closing, error) {
			tx, err := f.begin(ctx)
			return closing{tx, &closed}, err
		}, func(ctx context.Context, tx closing) error { return f.fn(ctx, tx.fakeTx) }))
		assert.Equal(t, 1, closed)
		assert.Equal(t, "begin fn rollback begin fn commit", f.takeCalls())
	})
	t.Run("database/sql", func(t *testing.T) {
		f := &fake{scripts: []script{{begin: readOnly}, {commit: readOnly}}}
		require.NoError(t, retrysql.InTx(t.Context(), atOnce, f.open(t), nil, func(context.Context, *sql.Tx) error { return nil }))
		assert.Equal(t, 2, f.closed)
		assert.Equal(t, "begin begin commit begin commit", f.takeCalls())
	})
	t.Run("ended by fn", func(t *testing.T) {
		f := new(fake)
		err := retrysql.InTxFunc(t.Context(), atOnce, func(ctx context.Context) (closing, error) {
			tx, err := f.begin(ctx)
			return closing{tx, new(int)}, err
		}, func(ctx context.Context, tx closing) error { return errors.Join(tx.Commit(ctx), readOnly) })
		assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		assert.Equal(t, "begin commit", f.takeCalls())
	})
	t.Run("unknown", func(t *testing.T) {
		f := &fake{scripts: []script{{fn: readOnly}}}
		require.NoError(t, retrysql.InTxFunc(t.Context(), atOnce, f.begin, f.fn))
		assert.Equal(t, "begin fn rollback begin fn commit", f.takeCalls())
	})
}

// TestUnknownForm: a transaction that InTxFunc cannot end is an invalid call.
func TestUnknownForm(t *testing.T) {
	begun := 0
	err := retrysql.InTxFunc(t.Context(), atOnce, func(context.Context) (int, error) { begun++; return 0, nil },
		func(context.Context, int) error { t.Error("called"); return nil })
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Equal(t, 1, begun)
}
