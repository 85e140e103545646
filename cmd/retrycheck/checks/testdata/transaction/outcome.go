package transaction

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

type order struct{ Number int64 }

func creates(ctx context.Context, p retry.Policy, db *sql.DB, id string) (int64, error) {
	var number int64
	key := retrysql.Key{In: retrysql.PostgresKeys, ID: "orders/" + id}
	_, err := retrysql.Once(ctx, p, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		row := tx.QueryRowContext(ctx, "INSERT INTO orders DEFAULT VALUES RETURNING number")
		return nil, row.Scan(&number) // want `the function does not run for a request that is repeated, so number stays as it is`
	})
	if err != nil {
		return 0, err
	}
	var o order
	_, err = retrysql.OnceFunc(ctx, p, begin(db), queryRow, retrysql.Key{In: retrysql.PostgresKeys, ID: id}, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		created, err := create(ctx, tx)
		o.Number = created.Number // want `so o stays as it is`
		return nil, err
	})
	return number + o.Number, err
}

func begin(db *sql.DB) func(context.Context) (*sql.Tx, error) {
	return func(ctx context.Context) (*sql.Tx, error) { return db.BeginTx(ctx, nil) }
}

func queryRow(tx *sql.Tx, ctx context.Context, query string, args ...any) *sql.Row {
	return tx.QueryRowContext(ctx, query, args...)
}

func create(ctx context.Context, tx *sql.Tx) (order, error) {
	var o order
	err := tx.QueryRowContext(ctx, "INSERT INTO orders DEFAULT VALUES RETURNING number").Scan(&o.Number)
	return o, err
}

func createsRight(ctx context.Context, p retry.Policy, db *sql.DB, given retrysql.Key, id string) (int64, error) {
	key := retrysql.Key{In: retrysql.PostgresKeys, ID: "orders/" + id}
	result, err := retrysql.Once(ctx, p, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		o, err := create(ctx, tx)
		return strconv.AppendInt(nil, o.Number, 10), err
	})
	if err != nil {
		return 0, err
	}
	isNew := false
	_, err = retrysql.Once(ctx, p, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		isNew = true // tells whether the function has run
		return nil, update(ctx, tx)
	})
	if err != nil {
		return 0, err
	}
	var o order
	_, err = retrysql.Once(ctx, p, db, nil, retrysql.Key{In: retrysql.PostgresKeys, NoID: true}, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		var err error
		o, err = create(ctx, tx) // no request has this key again
		return nil, err
	})
	if err != nil {
		return 0, err
	}
	_, err = retrysql.Once(ctx, p, db, nil, given, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		var err error
		o, err = create(ctx, tx) // the key may have no ID
		return nil, err
	})
	if err != nil || isNew {
		return o.Number, err
	}
	return strconv.ParseInt(string(result), 10, 64)
}

func takesForDone(ctx context.Context, err error) error {
	if errors.Is(err, retrysql.ErrInProgress) {
		slog.InfoContext(ctx, "duplicate")
		return nil // want `the work is not done yet, and the other transaction may still roll back: return the error`
	}
	switch {
	case errors.Is(err, retrysql.ErrInProgress):
		return nil // want `the work is not done yet`
	case errors.Is(err, retrysql.ErrOtherRequest):
		return nil
	}
	if err != nil && !errors.Is(err, retrysql.ErrInProgress) {
		return err
	}
	return nil // want `the work is not done yet`
}

func looksLater(ctx context.Context, err error, requeue func(context.Context) error, w http.ResponseWriter) error {
	if errors.Is(err, retrysql.ErrInProgress) {
		return fmt.Errorf("later: %w", err)
	}
	if errors.Is(err, retrysql.ErrInProgress) {
		w.WriteHeader(http.StatusConflict)
		return nil
	}
	if errors.Is(err, retrysql.ErrInProgress) {
		err = requeue(ctx)
		return err
	}
	if err != nil && !errors.Is(err, retrysql.ErrInProgress) {
		return err
	}
	return requeue(ctx)
}

func busy(err error) bool {
	if errors.Is(err, retrysql.ErrInProgress) {
		return true
	}
	return false
}

func reserves(ctx context.Context, p retry.Policy, db *sql.DB, article string, n int) error {
	var left int
	err := db.QueryRowContext(ctx, "SELECT quantity FROM stock WHERE article = $1", article).Scan(&left)
	if err != nil {
		return err
	}
	rest := left - n
	return retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE stock SET quantity = $1 WHERE article = $2", left-n, article) // want `left was read before the transaction, so this overwrites what others have written since`
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE stock SET changed = ?, quantity = ? WHERE article = ?", 1, rest, article) // want `left was read before the transaction`
		return err
	})
}

func reservesRight(ctx context.Context, p retry.Policy, db *sql.DB, article string, n int) error {
	var left, version int
	var settings json.RawMessage
	err := db.QueryRowContext(ctx, "SELECT quantity, version FROM stock WHERE article = $1", article).Scan(&left, &version)
	if err != nil {
		return err
	}
	err = db.QueryRowContext(ctx, "SELECT settings FROM service").Scan(&settings)
	if err != nil {
		return err
	}
	return retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE stock SET quantity = $1, version = version + 1 WHERE article = $2 AND version = $3", left-n, article, version)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE item SET quantity = $1, settings = $2 WHERE article = $3", left, settings, article) // of another table
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE stock SET seen = $1 WHERE article = $2", left, article)
		if err != nil {
			return err
		}
		var now int
		err = tx.QueryRowContext(ctx, "SELECT quantity FROM stock WHERE article = $1 FOR UPDATE", article).Scan(&now)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE stock SET quantity = $1 WHERE article = $2", now-n, article)
		return err
	})
}
