package budget

import (
	"context"
	"database/sql"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

type pool struct{ policy retry.Policy }

func (p *pool) begin(context.Context) (*sql.Tx, error) { return nil, nil }
func (p *pool) reset()                                 {}

func (p *pool) inTx(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	begin := retrysql.Resetting(p.begin, p.reset) // want `each transaction makes its own begin, so each resets the pool after the same failure`
	return retrysql.InTxFunc(ctx, p.policy, begin, fn)
}

func (p *pool) inTxToo(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	return retrysql.InTxFunc(ctx, p.policy, retrysql.Resetting(p.begin, p.reset), fn) // want `each transaction makes its own begin`
}

type poolStore struct {
	begin  func(context.Context) (*sql.Tx, error)
	policy retry.Policy
}

func newPoolStore(p *pool) *poolStore {
	return &poolStore{begin: retrysql.Resetting(p.begin, p.reset), policy: p.policy}
}

func (s *poolStore) inTx(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	return retrysql.InTxFunc(ctx, s.policy, s.begin, fn)
}

func (p *pool) each(ctx context.Context, all []func(context.Context, *sql.Tx) error) error {
	begin := retrysql.Resetting(p.begin, p.reset)
	for _, fn := range all {
		err := retrysql.InTxFunc(ctx, p.policy, begin, fn)
		if err != nil {
			return err
		}
	}
	return nil
}
