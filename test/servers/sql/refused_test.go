//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// onRetry returns the policy named quick with f as its OnRetry hook and without
// AttemptTimeout.
func onRetry(f func(failed retry.Attempt)) retry.Policy {
	p := quick
	p.AttemptTimeout = 0
	p.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) { f(failed) }
	return p
}

// TestDeferredConstraint: violating a constraint that is checked at COMMIT is a permanent
// error.
func TestDeferredConstraint(t *testing.T) {
	for _, v := range slices.Concat(variants, embedded) {
		if v.server == mariadb {
			continue // has no deferred constraints
		}
		t.Run(v.name, func(t *testing.T) {
			db := v.connect(t, v.address(t), 1)
			createTable(t, db, "parent", "id INT PRIMARY KEY")
			createTable(t, db, "child", "id INT REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED")
			t.Cleanup(func() { _ = db.exec(context.Background(), "DROP TABLE child") })
			attempts := 0
			err := db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
				attempts++
				return tx.exec(ctx, "INSERT INTO child VALUES (1)")
			})
			require.Error(t, err)
			assert.NotErrorIs(t, err, retry.ErrUnrepeatable)
			assert.Equal(t, 1, attempts, "%v", err)
			assert.Zero(t, number(t, db, "SELECT count(*) FROM child"))
			assertReturned(t, db)
		})
	}
}

// TestWriteSkew: a transaction rejected by PostgreSQL at COMMIT with 40001 runs again.
func TestWriteSkew(t *testing.T) {
	for _, v := range variants {
		if v.server != postgres {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			addr := v.address(t)
			db, other := v.connect(t, addr, 1), v.connect(t, addr, 1)
			createBank(t, db, 2)
			attempts := 0
			skewed := func(db database, account int, between func() error) error {
				return db.inTx(t.Context(), quick, sql.LevelSerializable, func(ctx context.Context, tx session) error {
					sum, err := tx.number(ctx, "SELECT sum(balance) FROM account")
					if err != nil {
						return err
					}
					if err := tx.exec(ctx, fmt.Sprintf("UPDATE account SET balance = %d WHERE id = %d", sum+1, account)); err != nil {
						return err
					}
					return between()
				})
			}
			require.NoError(t, skewed(db, 0, func() error {
				if attempts++; attempts > 1 {
					return nil
				}
				return skewed(other, 1, func() error { return nil })
			}))
			assert.Equal(t, 2, attempts)
			assert.Equal(t, 3, number(t, db, "SELECT sum(balance) FROM account"))
		})
	}
}

// TestIgnoredError: if fn ignores the error of a statement, the transaction fails, although
// PostgreSQL accepts the COMMIT.
func TestIgnoredError(t *testing.T) {
	for _, v := range variants {
		if v.server != postgres {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			db := v.connect(t, v.address(t), 1)
			createTable(t, db, "ignored", "id INT")
			attempts := 0
			err := db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
				attempts++
				require.NoError(t, tx.exec(ctx, "INSERT INTO ignored VALUES (1)"))
				require.Error(t, tx.exec(ctx, "INSERT INTO nowhere VALUES (1)"))
				return nil
			})
			require.ErrorContains(t, err, "a statement failed before COMMIT")
			assert.NotErrorIs(t, err, retry.ErrUnrepeatable)
			assert.Equal(t, 1, attempts)
			assert.Zero(t, number(t, db, "SELECT count(*) FROM ignored"))
			assertReturned(t, db)
		})
	}
}

// TestLockWaitTimeout: MySQL's error 1205 undoes only one statement, so InTx rolls back the
// earlier statements.
func TestLockWaitTimeout(t *testing.T) {
	addr := mariadb.Start(t)
	for _, atCommit := range []bool{false, true} {
		t.Run(fmt.Sprintf("at COMMIT=%v", atCommit), func(t *testing.T) {
			v := variants[slices.IndexFunc(variants, func(v variant) bool { return v.server == mariadb })]
			db, holder := v.connect(t, addr, 1), v.connect(t, addr, 1)
			createBank(t, db, 1)
			hold, release := "UPDATE account SET balance = 1", "COMMIT"
			if atCommit {
				hold, release = "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"
			} else {
				require.NoError(t, holder.exec(t.Context(), "START TRANSACTION"))
			}
			var failures []error
			policy := onRetry(func(failed retry.Attempt) {
				failures = append(failures, failed.Err)
				require.NoError(t, holder.exec(t.Context(), release))
			})
			require.NoError(t, db.exec(t.Context(), "SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1"))
			if !atCommit {
				require.NoError(t, holder.exec(t.Context(), hold))
			}
			require.NoError(t, db.inTx(t.Context(), policy, sql.LevelDefault, func(ctx context.Context, tx session) error {
				if err := tx.exec(ctx, "INSERT INTO ledger VALUES (1)"); err != nil {
					return err
				}
				if err := add(ctx, tx, 0); err != nil {
					return err
				}
				if atCommit && failures == nil {
					return holder.exec(ctx, hold)
				}
				return nil
			}))
			require.Len(t, failures, 1)
			assert.ErrorContains(t, failures[0], "Error 1205")
			assert.Equal(t, 1, number(t, db, "SELECT count(*) FROM ledger"))
			assertReturned(t, db)
		})
	}
}

// TestBusy: if SQLite rejects COMMIT because another connection is reading, the
// transaction is retried.
func TestBusy(t *testing.T) {
	for _, v := range embedded {
		t.Run(v.name, func(t *testing.T) {
			dir := v.address(t)
			db, reader := v.connect(t, dir, 1), v.connect(t, dir, 1).(sqlDatabase)
			createBank(t, db, 1)
			rows, err := reader.db.QueryContext(t.Context(), "SELECT id FROM account")
			require.NoError(t, err)
			require.True(t, rows.Next())
			var failures []error
			policy := onRetry(func(failed retry.Attempt) {
				failures = append(failures, failed.Err)
				require.NoError(t, rows.Close())
			})
			policy.OnGiveUp = func(context.Context, *retry.Error) { _ = rows.Close() }
			require.NoError(t, db.inTx(t.Context(), policy, sql.LevelDefault, func(ctx context.Context, tx session) error {
				return add(ctx, tx, 0)
			}))
			require.NoError(t, rows.Err())
			assert.Len(t, failures, 1)
			assert.Equal(t, 1, number(t, db, "SELECT balance FROM account"))
			assertReturned(t, db)
		})
	}
}

// TestWriteInReadOnly: a write in a read-only transaction is a mistake that the error names.
func TestWriteInReadOnly(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			db := v.connect(t, v.address(t), 1)
			createTable(t, db, "lost", "id INT")
			attempts := 0
			write := func(ctx context.Context, tx session) error {
				attempts++
				return tx.exec(ctx, "INSERT INTO lost VALUES (1)")
			}
			var err error
			switch db := db.(type) {
			case pgxDatabase:
				begin := func(ctx context.Context) (pgx.Tx, error) {
					return db.pool.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
				}
				err = retrysql.InTxFunc(t.Context(), quick, begin, func(ctx context.Context, tx pgx.Tx) error { return write(ctx, pgxSession{tx}) })
			case sqlDatabase:
				err = retrysql.InTx(t.Context(), quick, db.db, &sql.TxOptions{ReadOnly: true}, func(ctx context.Context, tx *sql.Tx) error { return write(ctx, sqlSession{tx}) })
			}
			assert.ErrorContains(t, err, "fn writes, but the transaction was begun as read-only: ")
			assert.Equal(t, 1, attempts)
			assertReturned(t, db)
		})
	}
}

// TestUnknownIsolation: a level that the driver does not know is not asked for again.
func TestUnknownIsolation(t *testing.T) {
	const unknown = sql.IsolationLevel(99)
	for _, v := range variants[1:] { // of database/sql
		t.Run(v.name, func(t *testing.T) {
			db := v.connect(t, v.address(t), 1).(sqlDatabase)
			attempts := 0
			policy := retry.Policy{Backoff: retry.NoDelay{}}
			policy.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
				attempts++
				return ctx, nil
			}
			err := retrysql.InTx(t.Context(), policy, db.db, &sql.TxOptions{Isolation: unknown}, func(context.Context, *sql.Tx) error { return nil })
			assert.Error(t, err)
			assert.Equal(t, 1, attempts, "%v", err)
			assert.NotErrorIs(t, err, retry.ErrMaxAttempts)
		})
	}
}
