//go:build unix

package sql_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

var transactions = flag.Int("transactions", 0, "number of transactions in each large test; 0 means a few hundred")

// work is a set of transactions. Each writes its number into a ledger and adds 1 to an
// account.
type work struct {
	transactions, workers, accounts int
	policy                          retry.Policy
	level                           sql.IsolationLevel
	within                          time.Duration // contexts end after a random time below this; 0 means never
}

type tally struct {
	attempts atomic.Int64
	mu       sync.Mutex
	acked    []int
	unknown  []int
	failed   []int   // known to have had no effect
	failures []error // the errors of the transactions in failed
}

func createBank(t *testing.T, db session, accounts int) {
	t.Helper()
	createTable(t, db, "ledger", "id INT NOT NULL") // not unique: duplicates are visible
	createTable(t, db, "account", "id INT PRIMARY KEY, balance INT NOT NULL")
	for id := range accounts {
		require.NoError(t, db.exec(t.Context(), fmt.Sprintf("INSERT INTO account VALUES (%d, 0)", id)))
	}
}

func (w work) run(ctx context.Context, db database) *tally {
	sum := new(tally)
	w.policy.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		sum.attempts.Add(1)
		return ctx, nil
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range w.workers {
		workers.Go(func() {
			for id := int(next.Add(1)); id <= w.transactions; id = int(next.Add(1)) {
				ctx, cancel := ctx, context.CancelFunc(func() {})
				if w.within > 0 {
					ctx, cancel = context.WithTimeout(ctx, rand.N(w.within))
				}
				sum.add(id, db.inTx(ctx, w.policy, w.level, w.transaction(id)))
				cancel()
			}
		})
	}
	workers.Wait()
	return sum
}

// transaction reads before it writes, so SERIALIZABLE matters.
func (w work) transaction(id int) func(context.Context, session) error {
	account := id % w.accounts
	return func(ctx context.Context, tx session) error {
		balance, err := tx.number(ctx, fmt.Sprintf("SELECT balance FROM account WHERE id = %d", account))
		if err != nil {
			return err
		}
		if err := tx.exec(ctx, fmt.Sprintf("INSERT INTO ledger VALUES (%d)", id)); err != nil {
			return err
		}
		set := "balance + 1"
		if w.level == sql.LevelSerializable {
			set = fmt.Sprint(balance + 1) // a lost update would show
		}
		return tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = %s WHERE id = %d", set, account))
	}
}

func (sum *tally) add(id int, err error) {
	sum.mu.Lock()
	defer sum.mu.Unlock()
	switch {
	case err == nil:
		sum.acked = append(sum.acked, id)
	case errors.Is(err, retry.ErrUnrepeatable):
		sum.unknown = append(sum.unknown, id)
	default:
		sum.failed = append(sum.failed, id)
		sum.failures = append(sum.failures, err)
	}
}

// check asserts that every acknowledged transaction took effect once, that no failed
// transaction took effect, and that none took effect twice.
func (sum *tally) check(t *testing.T, db session) {
	t.Helper()
	count := func(ids []int) (rows, duplicates int) {
		for _, id := range ids {
			n := number(t, db, fmt.Sprintf("SELECT count(*) FROM ledger WHERE id = %d", id))
			rows += min(n, 1)
			duplicates += max(n-1, 0)
		}
		return rows, duplicates
	}
	require.NoError(t, db.exec(t.Context(), "CREATE INDEX ledger_id ON ledger (id)"))
	acked, d1 := count(sum.acked)
	took, d2 := count(sum.unknown)
	failed, d3 := count(sum.failed)
	t.Logf("%d transactions, %d attempts, %d acknowledged, %d unknown (%d of them took effect), %d failed, %d duplicates",
		len(sum.acked)+len(sum.unknown)+len(sum.failed), sum.attempts.Load(), len(sum.acked), len(sum.unknown), took, len(sum.failed), d1+d2+d3)
	if len(sum.failures) > 0 {
		t.Logf("the first failure: %v", sum.failures[0])
	}
	assert.Zero(t, d1+d2+d3, "duplicates")
	assert.Equal(t, len(sum.acked), acked, "acknowledged transactions that took effect")
	assert.Zero(t, failed, "failed transactions that took effect")
	assert.Equal(t, acked+took, number(t, db, "SELECT sum(balance) FROM account"))
	assert.Equal(t, acked+took, number(t, db, "SELECT count(*) FROM ledger"))
}

func size(usual int) int { return cmp.Or(*transactions, usual) }
