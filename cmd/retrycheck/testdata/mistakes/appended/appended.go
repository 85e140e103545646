package appended

import (
	"context"
	"database/sql"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, db *sql.DB) (names []string, err error) {
	err = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		rows, err := db.QueryContext(ctx, "SELECT name FROM t")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name) // mistake
		}
		return rows.Err()
	})
	return names, err
}
