// Log.Fatal in the operation.
package fatal

import (
	"context"
	"database/sql"
	"log"

	"github.com/gobackoff/retry"
)

func Open(ctx context.Context, dsn string) (*sql.DB, error) {
	return retry.DoValue(ctx, retry.Policy{MaxAttempts: 10}, func(ctx context.Context) (*sql.DB, error) { // mistake
		db, err := sql.Open("postgres", dsn)
		if err != nil {
			log.Fatal(err)
		}
		if err := db.PingContext(ctx); err != nil {
			log.Fatalf("ping: %v", err)
		}
		return db, nil
	})
}
