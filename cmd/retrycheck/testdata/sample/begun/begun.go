// Transaction begun outside of Do.
package begun

import (
	"context"
	"database/sql"

	"github.com/gobackoff/retry"
)

func Transfer(ctx context.Context, db *sql.DB, from, to int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	err = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { // mistake
		if _, err := tx.ExecContext(ctx, "update a set b = b - 1 where id = $1", from); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "update a set b = b + 1 where id = $1", to)
		return err
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}
