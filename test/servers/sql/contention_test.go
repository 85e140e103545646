//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

var patient = retry.Policy{
	MaxAttempts: 1000,
	Backoff:     retry.FullJitter{Base: 2 * time.Millisecond, Cap: 50 * time.Millisecond},
}

// TestContention: each of many SERIALIZABLE transactions that compete for a few rows
// commits exactly once, however often the database aborts it.
func TestContention(t *testing.T) {
	for _, v := range slices.Concat(variants, embedded) {
		t.Run(v.name, func(t *testing.T) {
			addr := v.address(t)
			direct := v.connect(t, addr, 1)
			const workers, accounts = 8, 2
			createBank(t, direct, accounts)
			db := v.connect(t, addr, workers)
			w := work{transactions: size(400), workers: workers, accounts: accounts, policy: patient}
			if v.server != nil {
				w.level = sql.LevelSerializable
			}
			sum := w.run(t.Context(), db)
			sum.check(t, direct)
			assert.Len(t, sum.acked, w.transactions, "%v", sum.failures)
			assert.Greater(t, sum.attempts.Load(), int64(w.transactions), "there was no contention")
			assertReturned(t, db)
		})
	}
}

// TestDeadlock: two transactions that lock two rows in opposite orders both commit.
func TestDeadlock(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			db := v.connect(t, v.address(t), 2)
			createBank(t, db, 2)
			both := make(chan struct{})
			var locked, attempts atomic.Int32
			transfer := func(first, second int) error {
				return db.inTx(t.Context(), patient, sql.LevelDefault, func(ctx context.Context, tx session) error {
					attempts.Add(1)
					if err := add(ctx, tx, first); err != nil {
						return err
					}
					if locked.Add(1) == 2 {
						close(both)
					}
					<-both
					return add(ctx, tx, second)
				})
			}
			other := make(chan error, 1)
			go func() { other <- transfer(1, 0) }()
			require.NoError(t, transfer(0, 1))
			require.NoError(t, <-other)
			assert.GreaterOrEqual(t, attempts.Load(), int32(3), "one of them ran again")
			assert.Equal(t, 4, number(t, db, "SELECT sum(balance) FROM account"))
			assertReturned(t, db)
		})
	}
}

func add(ctx context.Context, tx session, account int) error {
	return tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = balance + 1 WHERE id = %d", account))
}

// TestOneConnection: an attempt returns its connection before the next starts.
func TestOneConnection(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			addr := v.address(t)
			createBank(t, v.connect(t, addr, 1), 2)
			p := startProxy(t, addr, v.frames, randomFaults(2))
			db := v.open(t, p.addr(), 1)
			defer db.Close()
			sum := work{transactions: 30, workers: 3, accounts: 2, policy: quick}.run(t.Context(), db)
			assert.Len(t, sum.acked, 30-len(sum.unknown), "%v", sum.failures)
			assertReturned(t, db)
		})
	}
}

func assertReturned(t *testing.T, db database) {
	t.Helper()
	assert.Eventually(t, func() bool {
		idle, open := db.idle()
		return idle == open
	}, soon, time.Millisecond)
}
