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

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// The following Go code is also in docs/sql.md.

// migrationKeys is PostgresKeys with a table of its own, because rows of keys are deleted some day.
var migrationKeys = retrysql.Keys{
	Claim: strings.ReplaceAll(retrysql.PostgresKeys.Claim, "idempotency_key", "migration"),
	Find:  strings.ReplaceAll(retrysql.PostgresKeys.Find, "idempotency_key", "migration"),
	Store: strings.ReplaceAll(retrysql.PostgresKeys.Store, "idempotency_key", "migration"),
}

var migrationPolicy = retry.Policy{
	Backoff:    retry.EqualJitter{Base: time.Second, Cap: 10 * time.Second},
	MaxElapsed: 5 * time.Minute,
}

// migrate executes each step once, in a transaction of its own.
func migrate(ctx context.Context, policy retry.Policy, db *sql.DB, steps []string) error {
	for n, step := range steps {
		key := retrysql.Key{In: migrationKeys, ID: fmt.Sprint("step ", n+1), Request: []byte(step), Wait: true}
		_, err := retrysql.Once(ctx, policy, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '500ms'"); err != nil {
				return nil, err
			}
			_, err := tx.ExecContext(ctx, step)
			return nil, err
		})
		if err != nil {
			return fmt.Errorf("step %d: %w", n+1, err)
		}
	}
	return nil
}

const migrationTable = `CREATE TABLE migration (
	id BYTEA PRIMARY KEY,
	fingerprint BYTEA NOT NULL,
	result BYTEA,
	at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP
)`

var steps = []string{
	"CREATE TABLE moved (id INT)",
	"INSERT INTO moved SELECT id FROM busy; ALTER TABLE busy ADD COLUMN balance INT",
	"INSERT INTO moved VALUES (2)",
}

// migrating returns a database with a row in a table, and without the results of other tests.
func migrating(t *testing.T) *sql.DB {
	const v = 1 // pgx stdlib
	db := variants[v].connect(t, variants[v].address(t), 8).(sqlDatabase)
	for _, statement := range []string{
		"DROP TABLE IF EXISTS migration, moved, busy", migrationTable,
		"CREATE TABLE busy (id INT)", "INSERT INTO busy VALUES (1)",
	} {
		require.NoError(t, db.exec(t.Context(), statement))
	}
	return db.db
}

// TestMigrate: while a transaction reads a table, a step that changes the table gives way to other
// queries, and goes on when the transaction has ended. No step is executed twice.
func TestMigrate(t *testing.T) {
	db := migrating(t)
	reader, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = reader.Rollback() }()
	_, err = reader.ExecContext(t.Context(), "SELECT * FROM busy")
	require.NoError(t, err)
	policy := migrationPolicy
	policy.Backoff = retry.Constant(time.Millisecond)
	refused := 0
	policy.OnRetry = func(ctx context.Context, a retry.Attempt, _ time.Duration) {
		refusal, _ := errors.AsType[*pgconn.PgError](a.Err)
		if !assert.NotNil(t, refusal, a.Err) || !assert.Equal(t, "55P03", refusal.Code) {
			return
		}
		refused++
		if refused == 2 {
			assert.NoError(t, reader.Rollback())
		}
	}
	// Without a lock_timeout, this query would wait for the step, and the step for the reader.
	asked := make(chan error, 1)
	go func() {
		for ctx := t.Context(); ; time.Sleep(time.Millisecond) {
			var waiting int
			err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'busy'::regclass").Scan(&waiting)
			if err == nil && waiting == 0 {
				continue
			}
			if err == nil {
				_, err = db.ExecContext(ctx, "SELECT * FROM busy")
			}
			asked <- err
			return
		}
	}()
	require.NoError(t, migrate(t.Context(), policy, db, steps))
	assert.Equal(t, 2, refused)
	assert.NoError(t, <-asked)
	var sum int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT sum(id) FROM moved").Scan(&sum))
	assert.Equal(t, 3, sum)
	require.NoError(t, migrate(t.Context(), policy, db, steps), "a second run does nothing")
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT sum(id) FROM moved").Scan(&sum))
	assert.Equal(t, 3, sum)
	changed := []string{steps[0], steps[1] + " NOT NULL"}
	err = migrate(t.Context(), policy, db, changed)
	assert.ErrorIs(t, err, retrysql.ErrOtherRequest)
	assert.ErrorContains(t, err, "step 2")
}

// TestMigrateTogether: several processes start at the same moment.
func TestMigrateTogether(t *testing.T) {
	db := migrating(t)
	policy := migrationPolicy
	policy.Backoff = retry.Constant(time.Millisecond)
	results := make(chan error)
	for range 4 {
		go func() { results <- migrate(t.Context(), policy, db, steps) }()
	}
	for range 4 {
		assert.NoError(t, <-results)
	}
	var sum int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT sum(id) FROM moved").Scan(&sum))
	assert.Equal(t, 3, sum)
}

// TestMigrateFails: a step that is wrong ends the migration at once. What it did is undone, and the
// steps before it stay.
func TestMigrateFails(t *testing.T) {
	db := migrating(t)
	policy := migrationPolicy
	policy.OnRetry = func(context.Context, retry.Attempt, time.Duration) { t.Error("retried") }
	wrong := []string{steps[0], "INSERT INTO moved VALUES (9); ALTER TABLE nothing ADD COLUMN balance INT"}
	err := migrate(t.Context(), policy, db, wrong)
	require.ErrorContains(t, err, "step 2")
	var n int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM moved").Scan(&n))
	assert.Zero(t, n)
	require.NoError(t, migrate(t.Context(), policy, db, steps), "after it was mended")
}
