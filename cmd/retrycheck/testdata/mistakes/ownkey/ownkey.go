package ownkey

import (
	"context"
	"crypto/rand"
	"database/sql"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

func run(ctx context.Context, db *sql.DB, order []byte) ([]byte, error) {
	key := retrysql.Key{In: retrysql.PostgresKeys, ID: rand.Text(), Request: order} // mistake
	return retrysql.Once(ctx, retry.Policy{}, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO orders (body) VALUES ($1)", order)
		return []byte("created"), err
	})
}
