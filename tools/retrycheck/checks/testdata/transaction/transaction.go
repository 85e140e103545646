package transaction

import (
	"context"
	"database/sql"

	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

func update(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - 1")
	return err
}

func statement(ctx context.Context, p retry.Policy, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	err = retry.Do(ctx, p, func(ctx context.Context) error { // want `retry.Do retries a part of the transaction tx`
		return update(ctx, tx)
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

func inside(ctx context.Context, p retry.Policy, db *sql.DB) error {
	return retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		op := func() error { return update(ctx, tx) }
		return backoff.Retry(op, backoff.NewExponentialBackOff()) // want `backoff.Retry retries a part of the transaction tx`
	})
}

func whole(ctx context.Context, p retry.Policy, db *sql.DB) error {
	if err := retrysql.InTx(ctx, p, db, nil, update); err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := update(ctx, tx); err != nil {
			return err
		}
		return retry.Unrepeatable(tx.Commit())
	})
}
