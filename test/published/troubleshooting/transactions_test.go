package troubleshooting

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// A database fails, once each, to begin, execute or commit.
type database struct{ begin, exec, commit []error }

// take returns the next of some failures, or nil.
func take(failures *[]error) error {
	if len(*failures) == 0 {
		return nil
	}
	err := (*failures)[0]
	*failures = (*failures)[1:]
	return err
}

func (d *database) open(t *testing.T) *sql.DB {
	t.Helper()
	db := sql.OpenDB(d)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func (d *database) Connect(context.Context) (driver.Conn, error) { return connection{d}, nil }
func (d *database) Driver() driver.Driver                        { return nil }

type connection struct{ *database }

func (connection) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (connection) Close() error                        { return nil }
func (connection) Rollback() error                     { return nil }
func (c connection) Commit() error                     { return take(&c.commit) }
func (c connection) Begin() (driver.Tx, error)         { return c, take(&c.begin) }

func (c connection) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return c.Begin() }

func (c connection) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), take(&c.exec)
}

// QueryContext answers the questions of AskingDB: the transaction had no effect.
func (c connection) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if strings.Contains(query, "pg_xact_status") {
		return &rows{values: []driver.Value{"aborted"}}, nil
	}
	return &rows{values: []driver.Value{"7", "system/1/2"}}, nil
}

type rows struct{ values []driver.Value }

func (r *rows) Columns() []string { return []string{"number", "server"}[:len(r.values)] }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if r.values == nil {
		return io.EOF
	}
	copy(dest, r.values)
	r.values = nil
	return nil
}

func pay(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - 1")
	return err
}

// transactions are programs that use a database.
var transactions = map[string]program{
	"`COMMIT may have taken effect (see AskingDB and Once)`": func(t *testing.T, mended bool) error {
		d := &database{commit: []error{io.ErrUnexpectedEOF}}
		ctx, policy, db := t.Context(), quick, d.open(t)
		if mended {
			return retrysql.InTx(ctx, policy, retrysql.AskingDB(db), nil, pay)
		}
		return retrysql.InTx(ctx, policy, db, nil, pay)
	},
	"`driver: bad connection`": func(t *testing.T, mended bool) error {
		d := &database{exec: []error{driver.ErrBadConn}}
		ctx, policy, db := t.Context(), quick, d.open(t)
		if mended {
			return retrysql.InTx(ctx, policy, db, nil, pay)
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		return pay(ctx, tx)
	},
	"`could not serialize access`, `SQLSTATE 40001`": func(t *testing.T, mended bool) error {
		conflict := &pgconn.PgError{Severity: "ERROR", Message: "could not serialize access due to concurrent update", Code: "40001"}
		d := &database{commit: []error{conflict}}
		ctx, policy, db := t.Context(), quick, d.open(t)
		if mended {
			return retrysql.InTx(ctx, policy, db, nil, pay)
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		return errors.Join(pay(ctx, tx), tx.Commit())
	},
	"`sql: transaction has already been committed or rolled back`": func(t *testing.T, mended bool) error {
		d := &database{commit: []error{&pgconn.PgError{Message: "deadlock detected", Code: "40P01"}}}
		ctx, policy, db := t.Context(), quick, d.open(t)
		if mended {
			return retrysql.InTx(ctx, policy, db, nil, pay)
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		return retry.Do(ctx, policy, func(ctx context.Context) error {
			return errors.Join(pay(ctx, tx), tx.Commit())
		})
	},
}
