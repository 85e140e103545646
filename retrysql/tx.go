package retrysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// A Beginner begins transactions, as [*sql.DB] and [*sql.Conn] do.
type Beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// A Tx is a transaction that ends with Commit or Rollback, as pgx.Tx does. After
// either call, successful or not, its connection is free for other uses.
type Tx interface {
	Commit(ctx context.Context) error   // makes the transaction's effects permanent
	Rollback(ctx context.Context) error // undoes them
}

// InTx begins a transaction on db, calls fn, and commits. If an attempt fails
// and certainly had no effect, the policy decides whether the whole
// transaction runs again: the loop, the limits and the errors are those of
// [retry.Do]. InTx returns nil if and only if the transaction was committed.
//
// If the outcome of COMMIT is unknown, the transaction is not retried, and the
// error matches [retry.ErrUnrepeatable].
//
// fn may run several times. It must use tx for all its statements, return their
// errors, neither commit nor roll back tx, and not call InTx or [InTxFunc] with
// its context: see the package comment. If fn returns an error, panics or calls
// [runtime.Goexit], the transaction is rolled back; the error of a failed
// rollback is joined to that of fn.
//
// ctx and the policy's AttemptTimeout bound the transaction in the same way as the
// context passed to BeginTx. opts are passed to BeginTx; nil means the default
// isolation level. If ctx, db or fn is nil, the error matches [retry.ErrInvalid].
func InTx(ctx context.Context, p retry.Policy, db Beginner, opts *sql.TxOptions, fn func(ctx context.Context, tx *sql.Tx) error) error {
	if db == nil || fn == nil {
		return fmt.Errorf("%w transaction: db or fn is nil", retry.ErrInvalid)
	}
	begin := func(ctx context.Context) (sqlTx, error) {
		tx, err := db.BeginTx(ctx, opts)
		return sqlTx{tx}, err
	}
	return InTxFunc(ctx, p, begin, func(ctx context.Context, tx sqlTx) error { return fn(ctx, tx.Tx) })
}

type sqlTx struct{ *sql.Tx }

func (t sqlTx) Commit(context.Context) error   { return t.Tx.Commit() }
func (t sqlTx) Rollback(context.Context) error { return t.Tx.Rollback() }

// InTxFunc is [InTx] for packages other than database/sql: begin starts each
// transaction. With a pgx pool:
//
//	err := retrysql.InTxFunc(ctx, policy, pool.Begin, func(ctx context.Context, tx pgx.Tx) error {
//		...
//	})
//
// Commit gets the context of the attempt. Rollback gets a context that ends after five
// seconds but not when ctx ends, so that the connection can be used again.
func InTxFunc[T Tx](ctx context.Context, p retry.Policy, begin func(context.Context) (T, error), fn func(ctx context.Context, tx T) error) error {
	switch {
	case begin == nil || fn == nil:
		return fmt.Errorf("%w transaction: begin or fn is nil", retry.ErrInvalid)
	case ctx != nil && ctx.Value(inside{}) != nil:
		// Permanent; otherwise the outer transaction would run again.
		return retry.Permanent(fmt.Errorf("%w transaction: it is inside another one, which may run again or roll back", retry.ErrInvalid))
	}
	p.Classifier = classifier{p.Classifier}
	return retry.Do(ctx, p, func(ctx context.Context) error { return attempt(ctx, begin, fn) })
}

// inside is a key in the context of fn.
type inside struct{}

func attempt[T Tx](ctx context.Context, begin func(context.Context) (T, error), fn func(context.Context, T) error) error {
	tx, err := begin(ctx)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned { // fn or Commit panicked, or fn called runtime.Goexit
			_ = rollback(ctx, tx)
		}
	}()
	err = fn(context.WithValue(ctx, inside{}, true), tx)
	if err == nil {
		err = ctx.Err() // before COMMIT, the outcome is certain
	}
	if err != nil {
		returned = true
		return undone(ctx, tx, err)
	}
	err = tx.Commit(ctx)
	returned = true
	if err != nil {
		return uncommitted(ctx, tx, err)
	}
	return nil
}

// undone rolls back an attempt that failed with err before COMMIT, and returns its error.
func undone(ctx context.Context, tx Tx, err error) error {
	f := &failure{err: err}
	switch cause := rollback(ctx, tx); {
	case cause == nil:
		return err
	case !hasEnded(cause):
		f.rollback = cause
	case ctx.Err() != nil:
		return err // database/sql has rolled back because ctx ended
	default:
		return f.unknown("fn ended the transaction itself")
	}
	return f
}

// uncommitted returns the error of an attempt whose COMMIT failed with err.
func uncommitted(ctx context.Context, tx Tx, err error) error {
	f := &failure{err: err}
	if cause := rollback(ctx, tx); cause != nil && !hasEnded(cause) {
		f.rollback = cause
	}
	switch outcome := outcomeOf(err); {
	case hasEnded(err):
		return f.unknown("the transaction ended before COMMIT")
	case outcome == outcomeUnknown:
		return f.unknown("COMMIT may have taken effect")
	case outcome == outcomeRolledBack:
		f.text = "a statement failed before COMMIT and fn returned nil"
		return retry.Permanent(f)
	}
	if f.rollback == nil {
		return err
	}
	return f
}

const rollbackTimeout = 5 * time.Second

// rollback rolls back even if ctx has ended: a pool closes a connection that
// was not rolled back.
func rollback(ctx context.Context, tx Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	return tx.Rollback(ctx)
}

// hasEnded reports whether err means that the transaction had already ended.
// ErrTxClosed of github.com/jackc/pgx is recognized by its text.
func hasEnded(err error) bool {
	return errors.Is(err, sql.ErrTxDone) || errfacts.HasText(err, "tx is closed")
}

// failure adds information to the error returned by fn or Commit.
type failure struct {
	text      string
	err       error // from fn or Commit; it alone decides the class
	rollback  error
	uncertain bool
}

func (f *failure) unknown(text string) error {
	f.text, f.uncertain = text, true
	return retry.Unrepeatable(f)
}

func (f *failure) Error() string {
	text := f.err.Error()
	if f.text != "" {
		text = f.text + ": " + text
	}
	if f.rollback != nil {
		text += "; rollback failed: " + f.rollback.Error()
	}
	return text
}

func (f *failure) Unwrap() []error {
	errs := []error{f.err}
	if f.uncertain {
		errs = append(errs, retry.ErrUnrepeatable)
	}
	if f.rollback != nil {
		errs = append(errs, f.rollback)
	}
	return errs
}

// classifier classifies an attempt by the error of fn or Commit alone, whatever a failed
// rollback reports. It ignores that, according to its error, a statement may have taken
// effect, because no statement takes effect without COMMIT.
type classifier struct{ next retry.Classifier }

func (c classifier) Classify(err error) retry.Verdict {
	f, ok := errors.AsType[*failure](err)
	if ok {
		if o, tooLong := err.(*errfacts.Overtime); tooLong {
			err = &errfacts.Overtime{Err: f.err, Limit: o.Limit}
		} else {
			err = f.err
		}
	}
	v := retry.Policy{Classifier: c.next}.Classify(err)
	v.Unrepeatable = false
	if ok && f.uncertain && v.Class == retry.ClassPermanent {
		v.Class = retry.ClassTransient // so the call ends with ErrUnrepeatable
	}
	return v
}
