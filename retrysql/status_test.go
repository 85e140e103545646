package retrysql_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
	mysql "github.com/gobackoff/retry/retrysql/internal/mysqlfake"
)

// TestEndedByStatement: fn is called once, whatever it returns after it has ended the
// transaction with a statement. The driver knows.
func TestEndedByStatement(t *testing.T) {
	db := sql.OpenDB(mysql.Connector{})
	defer func() { assert.NoError(t, db.Close()) }()
	later := errors.New("later")
	for _, failure := range []error{nil, later} {
		for _, statement := range []string{"COMMIT", "ROLLBACK"} {
			attempts := 0
			err := retrysql.InTx(t.Context(), atOnce, db, nil, func(ctx context.Context, tx *sql.Tx) error {
				attempts++
				_, err := tx.ExecContext(ctx, statement)
				require.NoError(t, err)
				return failure
			})
			require.ErrorIs(t, err, retry.ErrUnrepeatable)
			assert.ErrorContains(t, err, "fn ended the transaction with a statement, such as COMMIT")
			assert.Equal(t, failure != nil, errors.Is(err, later))
			assert.Equal(t, 1, attempts)
		}
	}
	require.NoError(t, retrysql.InTx(t.Context(), atOnce, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE")
		return err
	}))
	// A call of Rollback is recognized as such, before the connection's status is read.
	err := retrysql.InTx(t.Context(), atOnce, db, nil, func(_ context.Context, tx *sql.Tx) error { return tx.Rollback() })
	assert.ErrorContains(t, err, "fn called Commit or Rollback")
	assert.Zero(t, db.Stats().InUse)
}
