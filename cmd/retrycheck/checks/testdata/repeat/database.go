package repeat

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

const withdraw = `UPDATE account SET balance = balance - $1, changed_at = now()
	WHERE id = $2 AND balance >= $1`

type bank struct {
	db    *sql.DB
	pool  *pgxpool.Pool
	redis *redis.Client
	take  *sql.Stmt
}

func newBank(db *sql.DB) (*bank, error) {
	take, err := db.Prepare("UPDATE stock SET n = n - 1 WHERE id = ?")
	return &bank{db: db, take: take}, err
}

func (b *bank) withdraws(ctx context.Context, p retry.Policy, id, amount int) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		_, err := b.db.ExecContext(ctx, withdraw, amount, id) // want `this statement changes a value relative to itself, and does so again if its answer is lost: run it in retrysql.InTx, or mark its error with retry.Unrepeatable`
		return err
	})
}

func (b *bank) more(ctx context.Context, p retry.Policy, id int) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := b.takes(ctx, id); err != nil {
			return err
		}
		_, err := b.take.ExecContext(ctx, id) // want `this statement changes a value relative to itself`
		if err != nil {
			return fmt.Errorf("take: %w", err)
		}
		table := "counter"
		if _, err := b.db.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET a = 1, n = n + 1", table)); err != nil { // want `this statement changes a value relative to itself`
			return err
		}
		if _, err := b.db.ExecContext(ctx, "INSERT INTO counter (k, n) VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + 1", id); err != nil { // want `this statement changes a value relative to itself`
			return err
		}
		if _, err := b.pool.Exec(ctx, "UPDATE basket SET items = array_append(items, $1) WHERE id = $2", "tea", id); err != nil { // want `this statement changes a value relative to itself`
			return err
		}
		var order int
		return b.pool.QueryRow(ctx, "INSERT INTO payment (account, amount) VALUES ($1, $2) RETURNING id", id, 5).Scan(&order) // want `this statement inserts a row, and does so again if its answer is lost`
	})
}

func (b *bank) takes(ctx context.Context, id int) error {
	_, err := b.pool.Exec(ctx, "INSERT INTO event (id, kind) VALUES (gen_random_uuid(), $1)", id) // want `this statement inserts a row`
	return err
}

// absolute has statements that may be executed twice.
func (b *bank) absolute(ctx context.Context, p retry.Policy, id int) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		for _, statement := range []string{"UPDATE account SET balance = 5 WHERE id = $1", "DELETE FROM account WHERE id = $1"} {
			if _, err := b.db.ExecContext(ctx, statement, id); err != nil {
				return err
			}
		}
		if _, err := b.db.ExecContext(ctx, "UPDATE account SET balance = $1 WHERE id = $2", 5, id); err != nil {
			return err
		}
		if _, err := b.db.ExecContext(ctx, "UPDATE account SET name = $1, version = version + 1 WHERE id = $2 AND version = $3", "a", id, 7); err != nil {
			return err
		}
		if _, err := b.db.ExecContext(ctx, "UPDATE invoice SET status = 'paid', paid = paid + 1 WHERE id = $1 AND status = 'open'", id); err != nil {
			return err
		}
		if _, err := b.db.ExecContext(ctx, "UPDATE job SET attempts = attempts + 1 WHERE id = $1", id); err != nil {
			return err
		}
		if _, err := b.db.ExecContext(ctx, "UPDATE high SET score = GREATEST(score, $1) WHERE id = $2", 3, id); err != nil {
			return err
		}
		if _, err := b.db.ExecContext(ctx, "INSERT INTO account (id, balance) VALUES ($1, 0)", id); err != nil {
			return err
		}
		if _, err := b.db.ExecContext(ctx, "INSERT INTO setting (account, theme) VALUES ($1, $2) ON CONFLICT DO NOTHING", id, "dark"); err != nil {
			return err
		}
		if _, err := b.db.ExecContext(ctx, "INSERT INTO n (k, n) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET n = excluded.n + 0", id, 3); err != nil {
			return err
		}
		_, err := b.db.ExecContext(ctx, withdraw, 1, id)
		return retry.Unrepeatable(err)
	})
}

func (b *bank) once(ctx context.Context, p retry.Policy, id int) error {
	if err := retrysql.InTx(ctx, p, b.db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, withdraw, 1, id)
		return err
	}); err != nil {
		return err
	}
	return retry.Do(ctx, retry.Policy{MaxAttempts: retry.NoRetry}, func(ctx context.Context) error {
		_, err := b.db.ExecContext(ctx, withdraw, 1, id)
		return err
	})
}

func (b *bank) commits(ctx context.Context, p retry.Policy, id int) error {
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		tx, err := b.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, withdraw, 1, id); err != nil {
			return err
		}
		return tx.Commit() // want `a COMMIT whose answer is lost is executed again: use retrysql.InTx, or mark its error with retry.Unrepeatable`
	})
	if err != nil {
		return err
	}
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error { // want `a COMMIT whose answer is lost is executed again`
			_, err := tx.Exec(ctx, withdraw, 1, id)
			return err
		})
	})
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		tx, err := b.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, withdraw, 1, id); err != nil {
			return err
		}
		return retry.Unrepeatable(tx.Commit())
	})
}

// recognizes looks for its own mark first.
func (b *bank) recognizes(ctx context.Context, p retry.Policy, id int, request string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		var n int
		err := b.db.QueryRowContext(ctx, "SELECT count(*) FROM done WHERE request_id = $1", request).Scan(&n)
		if err != nil || n > 0 {
			return err
		}
		_, err = b.db.ExecContext(ctx, withdraw, 1, id)
		return err
	})
}

func counts(ctx context.Context, p retry.Policy, db *sql.DB, client *redis.Client) (names []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		return client.IncrBy(ctx, "sold", 5).Err() // want `redis.cmdable.IncrBy adds again if its answer is lost`
	})
	if err != nil {
		return nil, err
	}
	err = retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		var name string
		if err := tx.QueryRowContext(ctx, "SELECT name FROM customer").Scan(&name); err != nil {
			return err
		}
		names = append(names, name) // want `a retry appends to names again`
		return nil
	})
	return names, err
}

func answersInTx(w http.ResponseWriter, r *http.Request, p retry.Policy, db *sql.DB) {
	_ = retrysql.InTx(r.Context(), p, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM cart"); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent) // want `a retry answers on w again`
		return nil
	})
}

func commitsDeferred(ctx context.Context, p retry.Policy, db *sql.DB, id int) error {
	return retry.Do(ctx, p, func(ctx context.Context) (err error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() {
			if err == nil {
				err = tx.Commit() // want `a COMMIT whose answer is lost is executed again`
			}
		}()
		_, err = tx.ExecContext(ctx, withdraw, 1, id)
		return err
	})
}

func asksAgain(ctx context.Context, p retry.Policy, question string, ask func(context.Context, []string) (string, error)) ([]string, error) {
	history := []string{"Answer in JSON."}
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		history = append(history, question) // want `a retry appends to history again`
		answer, err := ask(ctx, history)
		if err != nil {
			return err
		}
		history = append(history, answer)
		return nil
	})
	return history, err
}

func built(ctx context.Context, p retry.Policy, db *sql.DB, table string) error {
	increment := "UPDATE " + table + " SET n = n + 1 WHERE id = $1"
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if _, err := db.ExecContext(ctx, increment, 5); err != nil { // want `this statement changes a value relative to itself`
			return err
		}
		for _, statement := range []string{"UPDATE a SET n = 1", "UPDATE b SET n = n - 1"} {
			if _, err := db.ExecContext(ctx, statement); err != nil { // want `this statement changes a value relative to itself`
				return err
			}
		}
		for _, statement := range []string{"UPDATE a SET n = 1", "DELETE FROM b"} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		_, err := db.ExecContext(ctx, "UPDATE "+table+" SET n = 1")
		return err
	})
}
