//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

// BenchmarkTransaction compares a transaction with one INSERT by the bare driver, by InTx,
// and by InTx when what tells the outcome of a lost COMMIT is noted. Each round runs all
// three. The metrics are medians.
func BenchmarkTransaction(b *testing.B) {
	insert := func(ctx context.Context, tx session) error { return tx.exec(ctx, "INSERT INTO lost VALUES (1)") }
	for _, v := range variants {
		b.Run(v.name, func(b *testing.B) {
			db := v.open(b, v.server.Start(b), 1)
			defer db.Close()
			createTable(b, db, "lost", "id INT")
			createKeys(b, v, db)
			ways := []func(context.Context) error{
				func(ctx context.Context) error { return db.once(ctx, insert) },
				func(ctx context.Context) error { return db.inTx(ctx, retry.Policy{}, sql.LevelDefault, insert) },
				func(ctx context.Context) error {
					return asking{db}.inTx(ctx, retry.Policy{}, sql.LevelDefault, insert)
				},
			}
			took := make([][]float64, len(ways))
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			for round := 0; b.Loop(); round++ {
				for i := range ways {
					way := (i + round) % len(ways)
					start := time.Now()
					require.NoError(b, ways[way](ctx))
					took[way] = append(took[way], float64(time.Since(start).Microseconds()))
				}
			}
			for i, name := range []string{"µs/bare", "µs/InTx", "µs/asked"} {
				slices.Sort(took[i])
				b.ReportMetric(took[i][len(took[i])/2], name)
			}
		})
	}
}
