package nofail

import (
	"context"
	"database/sql"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

func onlyBegins(ctx context.Context, p retry.Policy, begin func(context.Context) (*sql.Tx, error)) error {
	return retrysql.InTxFunc(ctx, p, begin, func(context.Context, *sql.Tx) error { return nil }) // retries begin
}

func begins(ctx context.Context, p retry.Policy, refused error) error {
	return onlyBegins(ctx, p, func(context.Context) (*sql.Tx, error) { return nil, refused }) // which is no operation
}
