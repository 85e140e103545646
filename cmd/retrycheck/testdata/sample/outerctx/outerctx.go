// Outer ctx used under an AttemptTimeout.
package outerctx

import (
	"context"
	"database/sql"
	"time"

	"github.com/gobackoff/retry"
)

func Ping(ctx context.Context, db *sql.DB) error {
	p := retry.Policy{AttemptTimeout: time.Second, MaxAttempts: 4}
	return retry.Do(ctx, p, func(_ context.Context) error {
		return db.PingContext(ctx) // mistake
	})
}
