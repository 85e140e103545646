package retrysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

func ExampleInTx() {
	withdraw := func(ctx context.Context, db *sql.DB, account, amount int) error {
		opts := &sql.TxOptions{Isolation: sql.LevelSerializable}
		return retrysql.InTx(ctx, retry.Policy{MaxAttempts: 10}, db, opts, func(ctx context.Context, tx *sql.Tx) error {
			var balance int
			if err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = $1", account).Scan(&balance); err != nil {
				return err
			}
			if balance < amount {
				return retry.Permanent(errors.New("not enough money"))
			}
			_, err := tx.ExecContext(ctx, "UPDATE account SET balance = $1 WHERE id = $2", balance-amount, account)
			return err
		})
	}

	db, err := sql.Open("pgx", "postgres://localhost/bank")
	if err != nil {
		fmt.Println(err)
		return
	}
	switch err := withdraw(context.Background(), db, 1, 100); {
	case errors.Is(err, retry.ErrUnrepeatable):
		fmt.Println("It may have been withdrawn:", err)
	case err != nil:
		fmt.Println("Nothing was withdrawn:", err)
	}
}
