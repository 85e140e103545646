package argument

import (
	"context"
	"database/sql"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retrykeep"
	"github.com/gobackoff/retry/retrysql"
)

type point struct{ value float64 }

func sendsPart(ctx context.Context, points []point, put func(context.Context, []point) (map[int]error, error)) error {
	_, err := retrybatch.Do(ctx, retrybatch.Batch[point]{}, points, func(ctx context.Context, part []point) (map[int]error, error) {
		return put(ctx, part)
	})
	return err
}

func isUp(ctx context.Context, k *retrykeep.Keeper, dial, receive func(context.Context) error) error {
	return k.Run(ctx, func(ctx context.Context, up func()) error {
		if err := dial(ctx); err != nil {
			return err
		}
		up()
		return receive(ctx)
	})
}

func waits(ctx context.Context, p retry.Policy, db *sql.DB) error {
	return retrysql.InTx(ctx, p, db, nil, func(_ context.Context, tx *sql.Tx) error {
		time.Sleep(time.Second)
		return tx.QueryRow("SELECT 1").Err()
	})
}
