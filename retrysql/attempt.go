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
	pool             pool   // of the transaction's connection; nil if it has none, or none is known
	reset            func() // closes the connections of another pool; may be nil
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

// close closes the connection of a transaction that has a method Conn like that of pgx.Tx,
// and reports whether it did. It is called after a statement failed: if fn had ended the
// transaction, its connection could already serve others.
func (a *attempt) close() bool {
	if txStatus(a.tx) != txFailed {
		return false
	}
	conn, ok := call(a.tx, "Conn").(interface{ Close(context.Context) error })
	return ok && conn.Close(a.life) == nil
}

// beganReadOnly reports whether the transaction itself, rather than its server, accepts no
// writes. PostgreSQL reports the two parameters since version 14.
func (a *attempt) beganReadOnly() bool {
	if a.readOnly {
		return true
	}
	if txStatus(a.tx) != txFailed {
		return false
	}
	conn, ok := call(call(a.tx, "Conn"), "PgConn").(interface{ ParameterStatus(string) string })
	return ok && conn.ParameterStatus("in_hot_standby") == "off" && conn.ParameterStatus("default_transaction_read_only") == "off"
}

// The status of a transaction, as PostgreSQL reports it with each response.
const (
	txOpen   = 'T'
	txFailed = 'E' // a statement has failed
	txEnded  = 'I' // by a statement such as COMMIT
)

// txStatus returns the status that pgx knows, or 0 for a transaction of another package.
func txStatus(tx any) byte {
	conn, ok := call(call(tx, "Conn"), "PgConn").(interface{ TxStatus() byte })
	if !ok {
		return 0
	}
	return conn.TxStatus()
}

// call returns the result of a method without parameters, or nil if v has none.
func call(v any, name string) any {
	if v == nil {
		return nil
	}
	value := reflect.ValueOf(v)
	if value.Kind() == reflect.Pointer && value.IsNil() {
		return nil
	}
	method := value.MethodByName(name)
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
		return nil
	}
	return method.Call(nil)[0].Interface()
}

// readOnly reports whether err says that its server accepts no writes.
func readOnly(err error) bool {
	return replies(err, func(r errfacts.Reply) bool { return r.ReadOnly })
}

// hasMoved reports whether err says that its server is not the primary any more, or goes
// away. Then the other connections to it are useless, too.
func hasMoved(err error) bool {
	return replies(err, func(r errfacts.Reply) bool { return r.ReadOnly || r.Leaves })
}

func replies(err error, is func(errfacts.Reply) bool) bool {
	for e := range errfacts.All(err) {
		reply, ok := errfacts.ReplyOf(e)
		if ok && is(reply) {
			return true
		}
	}
	return false
}

// lostConnection reports whether err is that of a connection which was lost, or which could not be
// made.
func lostConnection(err error) bool {
	return errfacts.Read(err).Broken || errfacts.Is(err, driver.ErrBadConn)
}

// pool is a [*sql.DB].
type pool interface {
	Conn(context.Context) (*sql.Conn, error)
	Stats() sql.DBStats
}

// forget closes the connections that were made before an attempt that ended with a lost
// server, as far as their pool allows it: those of a [*sql.DB] that others use are closed
// by their own failures.
func (a *attempt) forget() {
	if a.reset != nil {
		a.reset()
	}
	if a.pool == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), time.Second)
	defer cancel()
	for range a.pool.Stats().Idle {
		if a.pool.Stats().Idle == 0 {
			return // others use them; Conn would make a new one
		}
		conn, err := a.pool.Conn(ctx)
		if err != nil {
			return
		}
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // for the pool: close it
		_ = conn.Close()
	}
}
