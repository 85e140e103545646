//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retrysql"
)

// The following Go code is also in docs/sql.md.

// transferKnown is transfer for MariaDB: the outcome of its COMMIT is known.
func transferKnown(ctx context.Context, db *sql.DB, from, to, amount int) error {
	key := retrysql.Key{In: retrysql.MariaDBKeys, NoID: true}
	_, err := retrysql.Once(ctx, policy, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		const move = "UPDATE account SET balance = balance + ? WHERE id = ?"
		if _, err := tx.ExecContext(ctx, move, -amount, from); err != nil {
			return nil, err
		}
		_, err := tx.ExecContext(ctx, move, amount, to)
		return nil, err
	})
	return err
}

// beginOf returns the function that begins the transactions of a pool. Call it once for each
// pool, so that all of them reset the pool once.
func beginOf(pool *pgxpool.Pool) func(context.Context) (pgx.Tx, error) {
	return retrysql.Resetting(pool.Begin, pool.Reset)
}

// TestTransferKnown: with each lost COMMIT, the transfer takes effect once.
func TestTransferKnown(t *testing.T) {
	v := variants[3]
	addr := v.address(t)
	direct := v.connect(t, addr, 1)
	createBank(t, direct, 2)
	createKeys(t, v, direct)
	for _, test := range commitFaults {
		p := startProxy(t, addr, v.frames, onceAtCommit(test.toServer, test.fault))
		db := v.open(t, p.addr(), 1)
		require.NoError(t, transferKnown(t.Context(), db.(sqlDatabase).db, 0, 1, 1), test.name)
		db.Close()
		p.close()
	}
	settleServer(t, v, direct)
	assert.Equal(t, len(commitFaults), number(t, direct, "SELECT balance FROM account WHERE id = 1"))
}
