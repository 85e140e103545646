package goeson

import (
	"context"
	"database/sql"
	"log"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

func run(ctx context.Context, db *sql.DB, item string) error {
	return retrysql.InTx(ctx, retry.Policy{MaxAttempts: 10}, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE stock SET n = n - 1 WHERE item = ?", item); err != nil { // not found
			log.Printf("take %s: %v", item, err)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO journal (item) VALUES (?)", item)
		return err
	})
}
