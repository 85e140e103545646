// InTx uses db instead of tx.
package nottx

import (
	"context"
	"database/sql"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

type Repo struct {
	db *sql.DB
	p  retry.Policy
}

func (r *Repo) Buy(ctx context.Context, id int) error {
	return retrysql.InTx(ctx, r.p, r.db, nil, func(ctx context.Context, tx *sql.Tx) error { // mistake
		var n int
		if err := r.db.QueryRowContext(ctx, "select n from stock where id=$1", id).Scan(&n); err != nil { // mistake
			return err
		}
		_, err := r.db.ExecContext(ctx, "update stock set n=$1 where id=$2", n-1, id) // mistake
		return err
	})
}
