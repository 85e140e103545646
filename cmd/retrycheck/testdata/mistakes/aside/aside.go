package aside

import (
	"context"
	"database/sql"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

func run(ctx context.Context, db *sql.DB, from, to int) error {
	return retrysql.InTx(ctx, retry.Policy{}, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - 1 WHERE id = $1", from); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "UPDATE account SET balance = balance + 1 WHERE id = $1", to) // mistake
		return err
	})
}
