package statement

import (
	"context"
	"database/sql"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

func run(ctx context.Context) error {
	var db sql.DB
	return retrysql.InTx(ctx, retry.Policy{}, &db, nil, func(ctx context.Context, tx *sql.Tx) error {
		return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { // mistake
			_, err := tx.ExecContext(ctx, "DELETE FROM job")
			return err
		})
	})
}
