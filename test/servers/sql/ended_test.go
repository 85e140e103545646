//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// commitsItself runs a function that notes that it has committed, then waits for the end of
// the attempt's time.
func commitsItself(t *testing.T, db database, policy retry.Policy, committed *bool) error {
	t.Helper()
	commits := func(ctx context.Context, tx session, commit func() error) error {
		if err := tx.exec(ctx, "INSERT INTO lost VALUES (1)"); err != nil {
			return err
		}
		if err := commit(); err != nil {
			return err
		}
		*committed = true
		<-ctx.Done()
		return ctx.Err()
	}
	if db, ok := db.(pgxDatabase); ok {
		return retrysql.InTxFunc(t.Context(), policy, db.pool.Begin, func(ctx context.Context, tx pgx.Tx) error {
			return commits(ctx, pgxSession{tx}, func() error { return tx.Commit(ctx) })
		})
	}
	return retrysql.InTx(t.Context(), policy, db.(sqlDatabase).db, nil, func(ctx context.Context, tx *sql.Tx) error {
		return commits(ctx, sqlSession{tx}, tx.Commit)
	})
}

// TestEndedByFn: a function that commits by itself and then exceeds AttemptTimeout does not
// run again.
func TestEndedByFn(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			db := v.connect(t, v.address(t), 1)
			// If the machine stalls for longer than AttemptTimeout, fn cannot commit.
			var err error
			policy, committed := quick, false
			for limit := 100 * time.Millisecond; !committed && limit < soon; limit *= 5 {
				policy.AttemptTimeout = limit
				createTable(t, db, "lost", "id INT")
				err = commitsItself(t, db, policy, &committed)
			}
			assert.True(t, committed)
			assert.ErrorIs(t, err, retry.ErrUnrepeatable)
			assert.Equal(t, 1, number(t, db, "SELECT count(*) FROM lost"))
		})
	}
}

// TestEndedByStatement: a function that ends its transaction with a statement is called
// once, whether it then fails or not, and the error names the mistake. Only pgx tells.
func TestEndedByStatement(t *testing.T) {
	for _, v := range variants[:1] {
		addr := v.address(t)
		db := v.connect(t, addr, 1)
		for _, statement := range []string{"COMMIT", "ROLLBACK", "PREPARE TRANSACTION 'prepared'"} {
			for _, failure := range []error{nil, errors.New("later")} {
				t.Run(fmt.Sprint(v.name, " ", statement, " ", failure), func(t *testing.T) {
					createTable(t, db, "lost", "id INT")
					attempts := 0
					err := db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
						attempts++
						require.NoError(t, tx.exec(ctx, "INSERT INTO lost VALUES (1)"))
						require.NoError(t, tx.exec(ctx, statement))
						return failure
					})
					assert.ErrorIs(t, err, retry.ErrUnrepeatable)
					assert.ErrorContains(t, err, "fn ended the transaction with a statement")
					if failure != nil {
						assert.ErrorIs(t, err, failure)
					}
					assert.Equal(t, 1, attempts)
					if strings.HasPrefix(statement, "PREPARE") {
						require.NoError(t, db.exec(t.Context(), "ROLLBACK PREPARED 'prepared'"))
					}
					assertReturned(t, db)
					require.NoError(t, db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
						return tx.exec(ctx, "INSERT INTO lost VALUES (2)")
					}))
					assert.Equal(t, 1, number(t, db, "SELECT count(*) FROM lost WHERE id = 2"))
				})
			}
		}
	}
}

// TestLostWhileIdle: the server closes idle connections, and refuses statements of which
// the table has changed. The next transaction runs on a new connection, or again.
func TestLostWhileIdle(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			addr := v.address(t)
			direct := v.connect(t, addr, 1)
			createTable(t, direct, "lost", "id INT")
			db := v.connect(t, addr, 1)
			idle, lasting := "SET idle_session_timeout = 20", "SET idle_in_transaction_session_timeout = 0"
			if v.server == mariadb {
				idle, lasting = "SET wait_timeout = 1", "SET idle_transaction_timeout = 0"
			}
			require.NoError(t, db.exec(t.Context(), idle))
			settleServer(t, v, direct) // until the server has closed the connection
			require.NoError(t, db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
				return tx.exec(ctx, "INSERT INTO lost VALUES (1)")
			}))
			require.NoError(t, db.exec(t.Context(), lasting))

			attempts := 0
			for _, place := range []string{"statement", "COMMIT"} {
				if v.server != postgres || place == "COMMIT" && v.name == "lib/pq" { // lib/pq often misses the response
					break
				}
				attempts = 0
				require.NoError(t, db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
					attempts++
					if place == "COMMIT" || attempts == 2 {
						require.NoError(t, tx.exec(ctx, "INSERT INTO lost VALUES (1)"))
					}
					if attempts == 2 {
						return nil
					}
					require.NoError(t, tx.exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 20"))
					settleServer(t, v, direct)
					if place == "COMMIT" {
						return nil
					}
					return tx.exec(ctx, "INSERT INTO lost VALUES (1)")
				}), "25P03 of a %s", place)
				assert.Equal(t, 2, attempts, "25P03 of a %s", place)
			}
			attempts = 0
			for _, kind := range []string{"BIGINT", "INT", "BIGINT"} {
				require.NoError(t, db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
					attempts++
					_, err := tx.number(ctx, "SELECT max(id) FROM lost")
					return err
				}))
				alter := "ALTER TABLE lost ALTER COLUMN id TYPE "
				if v.server == mariadb {
					alter = "ALTER TABLE lost MODIFY COLUMN id "
				}
				require.NoError(t, direct.exec(t.Context(), alter+kind))
			}
			if strings.HasPrefix(v.name, "pgx") {
				assert.Equal(t, 5, attempts, "0A000 after each change")
			}
		})
	}
}
