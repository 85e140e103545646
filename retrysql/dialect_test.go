package retrysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/retrysql/internal/sqlitefake"
)

// TestDialect: the classes of errors of fn.
func TestDialect(t *testing.T) {
	for _, test := range []struct {
		err  error
		want retry.Class
	}{
		{mysqlError(1213, "40001"), retry.ClassTransient},
		{mysqlError(1205, "HY000"), retry.ClassTransient},
		{mysqlError(1040, "08004"), retry.ClassThrottled},
		{mysqlError(1062, "23000"), retry.ClassPermanent},
		{fmt.Errorf("insert: %w", mysqlError(1064, "42000")), retry.ClassPermanent},
		{sqlitefake.Mattn(5), retry.ClassTransient},
		{sqlitefake.Modernc(517), retry.ClassTransient}, // busy, snapshot
		{sqlitefake.Modernc(2067), retry.ClassPermanent},
		{sqlitefake.Other(), retry.ClassTransient},
		{sql.ErrNoRows, retry.ClassPermanent},
		{sql.ErrConnDone, retry.ClassPermanent},
		{sqlState("40001"), retry.ClassTransient},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			policy := atOnce
			policy.MaxAttempts = 1
			var got retry.Class
			policy.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
				return ctx, func(ended retry.Attempt) { got = ended.Class }
			}
			f := &fake{scripts: []script{{fn: test.err}}}
			assert.ErrorIs(t, retrysql.InTxFunc(t.Context(), policy, f.begin, f.fn), test.err)
			assert.Equal(t, test.want, got)
		})
	}
}
