package argument

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retrykeep"
	"github.com/gobackoff/retry/retrysql"
)

type point struct{ id string }

type store struct {
	points []point
	db     *sql.DB
}

func put(ctx context.Context, points []point) (refused []int, err error) { return nil, nil }
func send(ctx context.Context, p point) error                            { return nil }

func batches(ctx context.Context, batch retrybatch.Batch[point], points []point) error {
	_, err := retrybatch.Do(ctx, batch, points, func(ctx context.Context, part []point) (map[int]error, error) {
		refused, err := put(ctx, points) // want `this is all of the items, also those that were accepted: use part`
		failed := map[int]error{}
		for _, i := range refused {
			if i < len(part) {
				failed[i] = fmt.Errorf("point %s is refused", part[i].id)
			}
		}
		return failed, err
	})
	return err
}

func (s *store) batches(ctx context.Context, batch retrybatch.Batch[point]) error {
	_, err := retrybatch.Do(ctx, batch, s.points, func(ctx context.Context, _ []point) (map[int]error, error) { // want `the function ignores its second parameter, so it does not send the items that are left`
		_, err := put(ctx, s.points)
		return nil, err
	})
	if err != nil {
		return err
	}
	_, err = retrybatch.Do(ctx, batch, s.points, func(ctx context.Context, part []point) (map[int]error, error) {
		for i, p := range s.points { // want `this is all of the items`
			err := send(ctx, p)
			if err != nil {
				return map[int]error{i: err}, nil
			}
			if i == len(part) {
				break
			}
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	_, err = retrybatch.Do(ctx, batch, s.points, s.put)
	return err
}

func (s *store) put(ctx context.Context, part []point) (map[int]error, error) { // want `the function ignores part, so it does not send the items that are left`
	_, err := put(ctx, s.points)
	return nil, err
}

func good(ctx context.Context, batch retrybatch.Batch[point], points []point) error {
	_, err := retrybatch.Do(ctx, batch, points, func(ctx context.Context, part []point) (map[int]error, error) {
		slog.Info("sending", "part", len(part), "all", len(points), "first", points[0].id)
		_, err := put(ctx, slices.Clone(part))
		return nil, err
	})
	if err != nil {
		return err
	}
	_, err = retrybatch.Do(ctx, batch, points, func(ctx context.Context, part []point) (map[int]error, error) {
		failed := map[int]error{}
		for i := range len(part) {
			failed[i] = send(ctx, part[i])
		}
		return failed, nil
	})
	if err != nil {
		return err
	}
	_, err = retrybatch.Do(ctx, batch, points, func(context.Context, []point) (map[int]error, error) {
		return nil, nil // a placeholder
	})
	if err != nil {
		return err
	}
	_, err = retrybatch.Do(ctx, batch, points, func(ctx context.Context, part []point) (map[int]error, error) {
		return report(ctx, part, points)
	})
	return err
}

func report(ctx context.Context, part, all []point) (map[int]error, error) {
	fmt.Println(len(all))
	_, err := put(ctx, part)
	return nil, err
}

func keeps(ctx context.Context, keeper *retrykeep.Keeper, receive func(context.Context) error, serve func(context.Context, func()) error) error {
	err := keeper.Run(ctx, func(ctx context.Context, _ func()) error { // want `the function ignores its second parameter, so the Keeper takes a connection that works for one that was never made`
		return receive(ctx)
	})
	if err != nil {
		return err
	}
	err = keeper.Run(ctx, session) // the session is reported where it is declared
	if err != nil {
		return err
	}
	err = keeper.Run(ctx, func(ctx context.Context, up func()) error { // want `the function ignores up, so the Keeper`
		return session(ctx, up)
	})
	if err != nil {
		return err
	}
	err = keeper.Run(ctx, func(ctx context.Context, up func()) error {
		return serve(ctx, up)
	})
	if err != nil {
		return err
	}
	err = keeper.Run(ctx, func(ctx context.Context, up func()) error {
		return listen(ctx, events{onReady: up})
	})
	if err != nil {
		return err
	}
	return keeper.Run(ctx, func(ctx context.Context, up func()) error {
		defer up() // want `up is called when the session has ended`
		return receive(ctx)
	})
}

type events struct{ onReady func() }

func listen(context.Context, events) error { return nil }

func session(ctx context.Context, connected func()) error { // want `the function ignores connected, so the Keeper`
	return listen(ctx, events{})
}

func transactions(ctx context.Context, p retry.Policy, s *store) error {
	err := retrysql.InTx(ctx, p, s.db, nil, func(ctx context.Context, tx *sql.Tx) error { // want `the function ignores tx, so what it does is not a part of the transaction`
		return s.insert(ctx)
	})
	if err != nil {
		return err
	}
	begin := func(ctx context.Context) (*sql.Tx, error) { return s.db.BeginTx(ctx, nil) }
	err = retrysql.InTxFunc(ctx, p, begin, func(ctx context.Context, tx *sql.Tx) error { // want `the function ignores tx, so what it does is not a part of the transaction`
		return s.insert(ctx)
	})
	if err != nil {
		return err
	}
	err = retrysql.InTx(ctx, p, s.db, nil, func(ctx context.Context, tx *sql.Tx) error {
		return s.with(tx).insert(ctx)
	})
	if err != nil {
		return err
	}
	return retrysql.InTx(ctx, p, s.db, nil, func(context.Context, *sql.Tx) error {
		return errors.New("not implemented")
	})
}

func (s *store) insert(context.Context) error { return nil }

func (s *store) with(*sql.Tx) *store { return s }
