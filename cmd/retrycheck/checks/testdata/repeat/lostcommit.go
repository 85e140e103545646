package repeat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

var errNotEnough = errors.New("not enough money")

func transfers(ctx context.Context, p retry.Policy, db *sql.DB, move func(context.Context, *sql.Tx) error) error {
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		err := retrysql.InTx(ctx, p, db, nil, move)
		if errors.Is(err, errNotEnough) {
			return retry.Permanent(err)
		}
		return retry.Transient(err) // want `retry.Transient overrides retry.Unrepeatable in the error of InTx, so what may have taken effect is repeated`
	})
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := retrysql.InTx(ctx, p, db, nil, move); err != nil {
			return retry.Transient(fmt.Errorf("move: %w", err)) // want `what may have taken effect is repeated`
		}
		return nil
	})
}

func transfersRight(ctx context.Context, p retry.Policy, db *sql.DB, key retrysql.Key, move func(context.Context, *sql.Tx) error, busy func(error) bool) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := retrysql.InTx(ctx, p, db, nil, move)
		if errors.Is(err, retry.ErrUnrepeatable) {
			return err
		}
		if err != nil {
			return retry.Transient(err)
		}
		err = retrysql.InTx(ctx, p, db, nil, move)
		if busy(err) {
			return retry.Transient(err)
		}
		if err != nil {
			return err
		}
		err = retrysql.InTx(ctx, p, db, &sql.TxOptions{ReadOnly: true}, move)
		if err != nil {
			return retry.Transient(err)
		}
		_, err = retrysql.Once(ctx, p, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			return nil, move(ctx, tx)
		})
		return retry.Transient(err) // with the same key, it is not done again
	})
}
