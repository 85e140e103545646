//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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

var errNoEffect = errors.New("the transfer did not take effect")

// transfer moves an amount from one account to another. The caller chooses the ID.
func transfer(ctx context.Context, db *sql.DB, id string, from, to, amount int) error {
	opts := &sql.TxOptions{Isolation: sql.LevelSerializable}
	err := retrysql.InTx(ctx, policy, db, opts, func(ctx context.Context, tx *sql.Tx) error {
		var balance int
		err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = $1", from).Scan(&balance)
		if err != nil {
			return err
		}
		if balance < amount {
			return retry.Permanent(errors.New("not enough money"))
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO transfer (id, void) VALUES ($1, false)", id); err != nil {
			return err
		}
		const move = "UPDATE account SET balance = balance + $1 WHERE id = $2"
		if _, err := tx.ExecContext(ctx, move, -amount, from); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, move, amount, to)
		return err
	})
	if errors.Is(err, retry.ErrUnrepeatable) {
		return settle(ctx, db, id, err)
	}
	return err
}

// settle returns nil if the transfer took effect. Otherwise it makes sure that the
// transfer cannot take effect later, and returns an error.
func settle(ctx context.Context, db *sql.DB, id string, lost error) error {
	var void bool
	err := retrysql.InTx(ctx, policy, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		// If the server still works on the transfer, this waits for its end.
		_, err := tx.ExecContext(ctx, "INSERT INTO transfer (id, void) VALUES ($1, true) ON CONFLICT (id) DO NOTHING", id)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT void FROM transfer WHERE id = $1", id).Scan(&void)
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w; nor could that be settled: %w", lost, err)
	case void:
		return fmt.Errorf("%w: %v", errNoEffect, lost) // the outcome is known, so lost is not wrapped
	}
	return nil
}

// TestTransfer: with settle, every transfer's outcome is known, although connections are
// lost at COMMIT.
func TestTransfer(t *testing.T) {
	const v = 1 // pgx stdlib
	addr := variants[v].address(t)
	direct := variants[v].connect(t, addr, 1)
	createBank(t, direct, 2)
	createTable(t, direct, "transfer", "id TEXT PRIMARY KEY, void BOOLEAN NOT NULL")
	p := startProxy(t, addr, postgresFrames, randomFaults(4))
	db := variants[v].open(t, p.addr(), 1).(sqlDatabase)
	require.NoError(t, direct.exec(t.Context(), "UPDATE account SET balance = 1000"))
	moved := 0
	for id := range size(40) {
		err := transfer(t.Context(), db.db, fmt.Sprint(id), 0, 1, 1)
		for errors.Is(err, retry.ErrUnrepeatable) {
			err = settle(t.Context(), db.db, fmt.Sprint(id), err)
		}
		if err == nil {
			moved++
		} else if !errors.Is(err, errNoEffect) {
			require.ErrorIs(t, err, retry.ErrMaxAttempts) // also without effect
		}
	}
	db.Close()
	p.close()
	settleServer(t, variants[v], direct)
	assert.NotZero(t, moved)
	assert.Equal(t, 1000-moved, number(t, direct, "SELECT balance FROM account WHERE id = 0"))
	assert.Equal(t, 1000+moved, number(t, direct, "SELECT balance FROM account WHERE id = 1"))
	assert.Equal(t, moved, number(t, direct, "SELECT count(*) FROM transfer WHERE NOT void"))
}
