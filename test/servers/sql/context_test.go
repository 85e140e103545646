//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

// TestContextEnds: the reported outcome is correct whenever the context ends, even during
// COMMIT.
func TestContextEnds(t *testing.T) {
	for _, v := range slices.Concat(variants, embedded) {
		t.Run(v.name, func(t *testing.T) {
			addr := v.address(t)
			direct := v.connect(t, addr, 1)
			createBank(t, direct, 8)
			target, within := addr, 2*time.Millisecond
			if v.server != nil { // delay COMMIT, so that contexts end during it
				p := startProxy(t, addr, v.frames, func(m message) fault {
					if m.commit {
						return fault{delay: time.Millisecond}
					}
					return fault{}
				})
				target, within = p.addr(), 15*time.Millisecond
			}
			db := v.open(t, target, 4)
			sum := work{transactions: size(200), workers: 2, accounts: 8, policy: quick, within: within}.run(t.Context(), db)
			db.Close()
			if v.server != nil {
				settleServer(t, v, direct)
			}
			sum.check(t, direct)
			assert.Empty(t, sum.unknown, "COMMIT has time to finish")
			assert.NotEmpty(t, sum.failed)
			for _, err := range sum.failures {
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			}
		})
	}
}

func TestAttemptTimeout(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			db := v.connect(t, v.address(t), 1)
			createBank(t, db, 1)
			policy := quick
			policy.AttemptTimeout = 250 * time.Millisecond
			attempts := 0
			require.NoError(t, db.inTx(t.Context(), policy, sql.LevelDefault, func(ctx context.Context, tx session) error {
				if err := add(ctx, tx, 0); err != nil {
					return err
				}
				if attempts++; attempts == 1 {
					<-ctx.Done()
					return nil // COMMIT is not sent
				}
				return nil
			}))
			assert.GreaterOrEqual(t, attempts, 2)
			assert.Equal(t, 1, number(t, db, "SELECT balance FROM account"))
			assertReturned(t, db)
		})
	}
}

// TestPanic: a panic in fn rolls the transaction back and returns its connection.
func TestPanic(t *testing.T) {
	for _, v := range slices.Concat(variants, embedded) {
		t.Run(v.name, func(t *testing.T) {
			db := v.connect(t, v.address(t), 1)
			createBank(t, db, 1)
			assert.PanicsWithValue(t, "fn", func() {
				_ = db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
					require.NoError(t, add(ctx, tx, 0))
					panic("fn")
				})
			})
			assertReturned(t, db)
			assert.Zero(t, number(t, db, "SELECT balance FROM account"))
			require.NoError(t, db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
				return add(ctx, tx, 0)
			}))
		})
	}
}

// TestStalled: if the server no longer responds, a call with pgx ends although its COMMIT does
// not.
func TestStalled(t *testing.T) {
	for _, v := range variants[:2] {
		addr := v.address(t)
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			returned := make(chan struct{})
			p := startProxy(t, addr, v.frames, func(m message) fault {
				if m.commit {
					cancel()
					<-returned
				}
				return fault{}
			})
			db := v.open(t, p.addr(), 1)
			t.Cleanup(db.Close)
			err := db.inTx(ctx, quick, sql.LevelDefault, func(ctx context.Context, tx session) error { return tx.exec(ctx, "SELECT 1") })
			close(returned)
			assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		})
	}
}

// TestRestart: no acknowledged transaction is lost when the server shuts down or crashes.
func TestRestart(t *testing.T) {
	for _, v := range variants {
		for name, ask := range asked {
			t.Run(v.name+name, func(t *testing.T) {
				addr := v.address(t)
				direct := v.connect(t, addr, 1)
				createBank(t, direct, 8)
				createKeys(t, v, direct)
				db := v.open(t, addr, 4)
				policy := retry.Policy{MaxAttempts: 1000, Backoff: retry.FullJitter{Base: 5 * time.Millisecond, Cap: 100 * time.Millisecond}}
				begun := make(chan struct{})
				done := make(chan *tally)
				go func() {
					close(begun)
					done <- work{transactions: size(2000), workers: 4, accounts: 8, policy: policy}.run(t.Context(), ask(db))
				}()
				<-begun
				crash := "KILL"
				if v.server == postgres {
					crash = "QUIT" // immediate shutdown
				}
				for _, signal := range []string{v.server.Signal, crash} {
					time.Sleep(50 * time.Millisecond)
					require.NoError(t, v.server.Stop(signal))
					require.NoError(t, v.server.Run())
				}
				sum := <-done
				db.Close()
				require.EventuallyWithT(t, func(c *assert.CollectT) { assert.NoError(c, direct.exec(t.Context(), "SELECT 1")) }, soon, time.Millisecond)
				settleServer(t, v, direct)
				sum.check(t, direct)
				assert.Greater(t, int(sum.attempts.Load()), len(sum.acked)+len(sum.unknown))
				assert.Empty(t, sum.failed, "%v", sum.failures)
			})
		}
	}
}
