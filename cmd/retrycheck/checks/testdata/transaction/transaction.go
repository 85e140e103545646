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

func ends(ctx context.Context, p retry.Policy, db *sql.DB, key retrysql.Key) error {
	err := retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		defer tx.Rollback() // want `retrysql.InTx commits and rolls back: remove this`
		if err := update(ctx, tx); err != nil {
			return err
		}
		return tx.Commit() // want `retrysql.InTx commits and rolls back: remove this`
	})
	if err != nil {
		return err
	}
	const prepare = "prepare transaction 'a'"
	_, err = retrysql.Once(ctx, p, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		if _, err := tx.ExecContext(ctx, " COMMIT"); err != nil { // want `retrysql.Once commits and rolls back: remove this`
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE a SET b = 1; COMMIT; BEGIN"); err != nil { // want `retrysql.Once commits and rolls back: remove this`
			return nil, err
		}
		_, err := tx.ExecContext(ctx, prepare) // want `retrysql.Once commits and rolls back: remove this`
		return nil, err
	})
	return err
}

func savepoint(ctx context.Context, p retry.Policy, db, other *sql.DB) error {
	return retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range []string{"SAVEPOINT a", "COMMITS"} {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT a"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO log VALUES ($1)", "the end of COMMIT")
		return err
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

func aside(ctx context.Context, p retry.Policy, db, other *sql.DB) error {
	return retrysql.InTx(ctx, p, retrysql.AskingDB(db), nil, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := db.ExecContext(ctx, "INSERT INTO log VALUES (1)"); err != nil { // want `this is not a part of the transaction, so a retry repeats it: use the transaction of retrysql.InTx instead of db`
			return err
		}
		if _, err := other.ExecContext(ctx, "INSERT INTO log VALUES (1)"); err != nil {
			return err
		}
		return update(ctx, tx)
	})
}

func named(ctx context.Context, p retry.Policy, db *sql.DB) error {
	return retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) (err error) {
		_, err = tx.ExecContext(ctx, "DELETE FROM cart")
		return
	})
}
