package locks

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// PostgresTable creates the table of Postgres. Its rows stay, because they have the fences.
const PostgresTable = `CREATE TABLE lease (
	name TEXT PRIMARY KEY,
	token TEXT NOT NULL,
	until TIMESTAMPTZ NOT NULL,
	fence BIGINT NOT NULL
)`

// Postgres is a Lease in PostgreSQL. The clock of the server decides when it ends.
type Postgres struct {
	DB   *sql.DB
	Name string
}

// Acquire implements Lease.
func (l Postgres) Acquire(ctx context.Context, token string, ttl time.Duration) (fence int64, err error) {
	err = l.DB.QueryRowContext(ctx, `
		INSERT INTO lease AS old VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms', 1)
		ON CONFLICT (name) DO UPDATE SET token = EXCLUDED.token, until = EXCLUDED.until,
			fence = old.fence + CASE WHEN old.token = EXCLUDED.token THEN 0 ELSE 1 END
		WHERE old.token = EXCLUDED.token OR old.until <= clock_timestamp()
		RETURNING fence`, l.Name, token, ttl.Milliseconds()).Scan(&fence)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return fence, err
}

// Renew implements Lease.
func (l Postgres) Renew(ctx context.Context, token string, ttl time.Duration) (bool, error) {
	result, err := l.DB.ExecContext(ctx, `
		UPDATE lease SET until = clock_timestamp() + $3 * interval '1 ms'
		WHERE name = $1 AND token = $2 AND until > clock_timestamp()`, l.Name, token, ttl.Milliseconds())
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// Release implements Lease.
func (l Postgres) Release(ctx context.Context, token string) error {
	_, err := l.DB.ExecContext(ctx, "UPDATE lease SET token = '', until = '-infinity' WHERE name = $1 AND token = $2", l.Name, token)
	return err
}
