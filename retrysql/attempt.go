package retrysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"reflect"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// attempt is one transaction.
type attempt struct {
	ctx    context.Context // of the attempt
	policy retry.Policy    // of the call

	// life is the context of the transaction. It ends with ctx until the transaction has
	// begun. Afterwards it does not, because database/sql would roll back by itself, and
	// drivers would interrupt COMMIT.
	life   context.Context
	cancel context.CancelFunc

	// unfollow makes life outlast ctx, and reports whether ctx ended first.
	unfollow func() (ended bool)

	tx               any
	tells            bool // the driver knows the status of tx
	readOnly         bool // opts of InTx said so
	commit, rollback func(context.Context) error
	pool             pool // of the transaction's connection; nil if it has none, or none is known
	outcome          outcomeQuery
}

// attemptKey is a key in the context of begin.
type attemptKey struct{}

// attemptOf returns the attempt whose begin has the context ctx, or one that nobody uses.
func attemptOf(ctx context.Context) *attempt {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a
	}
	return new(attempt)
}

func newAttempt(ctx context.Context, p retry.Policy) *attempt {
	a := &attempt{ctx: ctx, policy: p}
	a.life, a.cancel = context.WithCancel(context.WithValue(context.WithoutCancel(ctx), attemptKey{}, a))
	stop := context.AfterFunc(ctx, a.cancel)
	a.unfollow = func() bool { return !stop() }
	return a
}

// ends returns the methods that end a transaction, or nil.
func ends(tx any) (commit, rollback func(context.Context) error) {
	switch tx := tx.(type) {
	case interface {
		Commit(context.Context) error
		Rollback(context.Context) error
	}:
		return tx.Commit, tx.Rollback
	case interface {
		Commit() error
		Rollback() error
	}:
		return func(context.Context) error { return tx.Commit() }, func(context.Context) error { return tx.Rollback() }
	}
	return nil, nil
}

// grace is the time that COMMIT, rollback and questions get when the attempt's context has
// ended.
const grace = 5 * time.Second

// finish commits.
func (a *attempt) finish() error {
	stop := context.AfterFunc(a.ctx, func() { time.AfterFunc(grace, a.cancel) })
	defer stop()
	return a.commit(a.life)
}

// undo rolls back even if the attempt's context has ended: a pool closes a connection that
// was not rolled back. Drivers of database/sql know only life.
func (a *attempt) undo() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), grace)
	defer cancel()
	defer context.AfterFunc(ctx, a.cancel)()
	return a.rollback(ctx)
}

// leave rolls back after an attempt failed before COMMIT. If failover, its connection is
// closed, so that the next attempt may reach another server, which accepts writes.
func (a *attempt) leave(failover bool) error {
	if !failover {
		return a.undo()
	}
	defer a.dropIdle()
	conn, ok := a.conn().(interface{ Close(context.Context) error })
	closed := ok && conn.Close(a.life) == nil
	cause := a.undo() // also returns a closed connection to its pool
	if closed && !hasEnded(cause) {
		return nil
	}
	return cause
}

// beganReadOnly reports whether the transaction itself, rather than its server, accepts no
// writes. PostgreSQL reports the two parameters since version 14.
func (a *attempt) beganReadOnly() bool {
	if a.readOnly {
		return true
	}
	conn, ok := call(a.conn(), "PgConn").(interface{ ParameterStatus(string) string })
	return ok && conn.ParameterStatus("in_hot_standby") == "off" && conn.ParameterStatus("default_transaction_read_only") == "off"
}

// conn returns the connection of a transaction that has a method Conn like that of pgx.Tx,
// or nil. After fn has ended the transaction, the connection may serve others.
func (a *attempt) conn() any {
	if statusOf(a.tx) == statusEnded {
		return nil
	}
	return call(a.tx, "Conn")
}

// call returns the result of a method without parameters, or nil if v has none.
func call(v any, name string) any {
	if v == nil {
		return nil
	}
	method := reflect.ValueOf(v).MethodByName(name)
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
		return nil
	}
	return method.Call(nil)[0].Interface()
}

func readOnly(err error) bool {
	for e := range errfacts.All(err) {
		if reply, ok := errfacts.ReplyOf(e); ok && reply.ReadOnly {
			return true
		}
	}
	return false
}

// pool is a [*sql.DB].
type pool interface {
	Conn(context.Context) (*sql.Conn, error)
}

// dropIdle closes an idle connection of the pool. Usually that is the one just returned;
// if not, another attempt meets it and closes it.
func (a *attempt) dropIdle() {
	if a.pool == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), time.Second)
	defer cancel()
	if conn, err := a.pool.Conn(ctx); err == nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // for the pool: close it
		_ = conn.Close()
	}
}
