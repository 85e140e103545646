package rowsleave

import (
	"context"
	"database/sql"
	"time"

	"github.com/gobackoff/retry"
)

type store struct {
	db     *sql.DB
	policy retry.Policy
}

func open(db *sql.DB) *store {
	return &store{db: db, policy: retry.Policy{AttemptTimeout: 2 * time.Second}}
}

func (s *store) names(ctx context.Context) (*sql.Rows, error) {
	p := retry.Policy{AttemptTimeout: 2 * time.Second}
	return retry.DoValue(ctx, p, func(ctx context.Context) (*sql.Rows, error) {
		return s.db.QueryContext(ctx, "SELECT name FROM customer") // mistake
	})
}
