//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// The following Go code is also in docs/sql.md.

var policy = retry.Policy{
	Backoff:     retry.FullJitter{Base: 5 * time.Millisecond, Cap: time.Second},
	MaxAttempts: 10,
}

// transfer moves an amount from one account to another.
func transfer(ctx context.Context, db *sql.DB, from, to, amount int) error {
	opts := &sql.TxOptions{Isolation: sql.LevelSerializable}
	return retrysql.InTx(ctx, policy, retrysql.AskingDB(db), opts, func(ctx context.Context, tx *sql.Tx) error {
		var balance int
		err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = $1", from).Scan(&balance)
		if err != nil {
			return err
		}
		if balance < amount {
			return retry.Permanent(errors.New("not enough money"))
		}
		const move = "UPDATE account SET balance = balance + $1 WHERE id = $2"
		if _, err := tx.ExecContext(ctx, move, -amount, from); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, move, amount, to)
		return err
	})
}

// TestTransfer: although connections are lost at COMMIT, every transfer's outcome is known.
func TestTransfer(t *testing.T) {
	const v = 1 // pgx stdlib
	addr := variants[v].address(t)
	direct := variants[v].connect(t, addr, 1)
	createBank(t, direct, 2)
	p := startProxy(t, addr, postgresFrames, randomFaults(4))
	db := variants[v].open(t, p.addr(), 1).(sqlDatabase)
	require.NoError(t, direct.exec(t.Context(), "UPDATE account SET balance = 1000"))
	moved := 0
	for range size(40) {
		if err := transfer(t.Context(), db.db, 0, 1, 1); err == nil {
			moved++
		} else {
			require.ErrorIs(t, err, retry.ErrMaxAttempts) // without effect
		}
	}
	db.Close()
	p.close()
	settleServer(t, variants[v], direct)
	assert.NotZero(t, moved)
	assert.NotZero(t, p.cuts.Load())
	assert.Equal(t, 1000-moved, number(t, direct, "SELECT balance FROM account WHERE id = 0"))
	assert.Equal(t, 1000+moved, number(t, direct, "SELECT balance FROM account WHERE id = 1"))
}
