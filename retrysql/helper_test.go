package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

var atOnce = retry.Policy{Backoff: retry.NoDelay{}}

type script struct{ begin, fn, commit, rollback error }

// fake is a database that follows one script per attempt, and then succeeds. It serves as
// a begin function and as the driver of a [sql.DB].
type fake struct {
	scripts []script
	mu      sync.Mutex
	calls   []string
	opts    driver.TxOptions
	current script
	closed  int // connections
	// answer returns the result of a statement: one row, or none.
	answer func(query string, args []driver.NamedValue) ([]driver.Value, error)
}

func (f *fake) log(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
}

func (f *fake) takeCalls() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := strings.Join(f.calls, " ")
	f.calls = nil
	return calls
}

func (f *fake) begin(context.Context) (*fakeTx, error) {
	f.log("begin")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = script{}
	if len(f.scripts) > 0 {
		f.current, f.scripts = f.scripts[0], f.scripts[1:]
	}
	if err := f.current.begin; err != nil {
		return nil, err
	}
	return &fakeTx{f: f, script: f.current}, nil
}

func (f *fake) fn(context.Context, *fakeTx) error {
	f.log("fn")
	return f.current.fn
}

// A fakeTx can be ended only once, like a pgx transaction.
type fakeTx struct {
	f *fake
	script
	ended bool
}

var errTxClosed = errors.New("tx is closed") // as in pgx

func (t *fakeTx) Commit(context.Context) error { return t.end("commit", t.commit) }

func (t *fakeTx) Rollback(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.end("rollback", t.rollback)
}

func (t *fakeTx) end(how string, err error) error {
	if t.ended {
		return errTxClosed
	}
	t.ended = true
	t.f.log(how)
	return err
}

func (f *fake) open(t *testing.T) *sql.DB {
	db := sql.OpenDB(f)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return &fakeConn{f}, nil }
func (f *fake) Driver() driver.Driver                        { return nil }

type fakeConn struct{ f *fake }

func (c *fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c *fakeConn) Close() error                        { c.f.closed++; return nil }
func (c *fakeConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }

func (c *fakeConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.f.opts = opts
	tx, err := c.f.begin(ctx)
	if err != nil {
		return nil, err
	}
	return driverTx{tx}, nil
}

func (c *fakeConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	_, err := c.f.answer(query, args)
	return driver.RowsAffected(1), err
}

func (c *fakeConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	row, err := c.f.answer(query, args)
	return &fakeRows{row}, err
}

type fakeRows struct{ row []driver.Value }

func (r *fakeRows) Columns() []string { return make([]string, len(r.row)) }
func (r *fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if r.row == nil {
		return io.EOF
	}
	copy(dest, r.row)
	r.row = nil
	return nil
}

type driverTx struct{ tx *fakeTx }

func (t driverTx) Commit() error   { return t.tx.Commit(context.Background()) }
func (t driverTx) Rollback() error { return t.tx.Rollback(context.Background()) }

type sqlState string

func (s sqlState) Error() string    { return "SQLSTATE " + string(s) }
func (s sqlState) SQLState() string { return string(s) }

// safe imitates the error that pgx returns if it sent nothing on the connection.
type safe struct{}

func (safe) Error() string     { return "conn closed" }
func (safe) SafeToRetry() bool { return true }

// MySQLError has the shape of the type in github.com/go-sql-driver/mysql.
type MySQLError struct {
	Number   uint16
	SQLState [5]byte
	Message  string
}

func (e *MySQLError) Error() string { return e.Message }

func mysqlError(number uint16, state string) error {
	return &MySQLError{Number: number, SQLState: [5]byte([]byte(state)), Message: "mysql"}
}
