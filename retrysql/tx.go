package retrysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// A Beginner begins transactions, as [*sql.DB] and [*sql.Conn] do.
type Beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// InTx begins a transaction on db, calls fn, and commits. If an attempt fails
// and certainly had no effect, the policy decides whether the whole
// transaction runs again: the loop, the limits and the errors are those of
// [retry.Do]. InTx returns nil if and only if the transaction was committed.
//
// If the outcome of COMMIT is unknown, the transaction is not retried, and the error matches
// [retry.ErrUnrepeatable]. If db comes from [AskingDB], InTx first asks the database for the
// outcome.
//
// fn may run several times. It must use tx for all its statements, return their
// errors, neither commit nor roll back tx, and not call InTx or [InTxFunc] with
// its context: see the package comment. If fn returns an error, panics or calls
// [runtime.Goexit], the transaction is rolled back; the error of a failed
// rollback is joined to that of fn.
//
// ctx and the policy's AttemptTimeout bound begin and fn. They do not interrupt COMMIT or
// rollback, which get five seconds more, as does asking for the outcome: InTx may outlive
// ctx by that time. opts are passed to BeginTx; nil means the default
// isolation level. If ctx, db or fn is nil, the error matches [retry.ErrInvalid].
func InTx(ctx context.Context, p retry.Policy, db Beginner, opts *sql.TxOptions, fn func(ctx context.Context, tx *sql.Tx) error) error {
	if db == nil || fn == nil {
		return fmt.Errorf("%w transaction: db or fn is nil", retry.ErrInvalid)
	}
	return InTxFunc(ctx, p, beginOn(db, opts), fn)
}

func beginOn(db Beginner, opts *sql.TxOptions) func(context.Context) (*sql.Tx, error) {
	return func(ctx context.Context) (*sql.Tx, error) {
		a := attemptOf(ctx)
		a.pool, _ = db.(pool)
		a.readOnly = opts != nil && opts.ReadOnly
		return db.BeginTx(ctx, opts)
	}
}

// InTxFunc is [InTx] for packages other than database/sql: begin starts each
// transaction. With a pgx pool:
//
//	err := retrysql.InTxFunc(ctx, policy, pool.Begin, func(ctx context.Context, tx pgx.Tx) error {
//		...
//	})
//
// T must have methods Commit and Rollback that return an error and have either no
// parameters, as in database/sql, sqlx, bun and ent, or a context, as in pgx. After
// either call, successful or not, its connection must be free for other uses. Any other T
// is an error that matches [retry.ErrInvalid].
//
// begin must use its context, which outlives the attempt until the transaction has ended:
// database/sql would otherwise roll back by itself, or interrupt COMMIT.
func InTxFunc[T any](ctx context.Context, p retry.Policy, begin func(context.Context) (T, error), fn func(ctx context.Context, tx T) error) error {
	switch {
	case begin == nil || fn == nil:
		return fmt.Errorf("%w transaction: begin or fn is nil", retry.ErrInvalid)
	case ctx != nil && ctx.Value(inside{}) != nil:
		// Permanent; otherwise the outer transaction would run again.
		return retry.Permanent(fmt.Errorf("%w transaction: it is inside another one, which may run again or roll back", retry.ErrInvalid))
	}
	if err := p.Validate(); err != nil {
		return err
	}
	next := p
	p.Classifier = classifier{p.Classifier}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return run(newAttempt(ctx, next), begin, fn)
	})
}

// inside is a key in the context of fn.
type inside struct{}

func run[T any](a *attempt, begin func(context.Context) (T, error), fn func(context.Context, T) error) error {
	defer a.cancel()
	tx, err := begin(a.life)
	ended := a.unfollow()
	if err != nil {
		if hasMoved(err) || lostConnection(err) {
			a.forget()
		}
		if isUnsupported(err) {
			return retry.Permanent(err)
		}
		return err
	}
	a.tx = tx
	switch a.commit, a.rollback = ends(tx); {
	case a.commit == nil:
		return retry.Permanent(fmt.Errorf("%w transaction: %T has no methods Commit and Rollback of a known form", retry.ErrInvalid, tx))
	case ended:
		_ = a.undo()
		return a.ctx.Err()
	}
	a.tells = txStatus(tx) == txOpen
	returned := false
	defer func() {
		if !returned { // fn or Commit panicked, or fn called runtime.Goexit
			_ = a.undo()
		}
	}()
	err = fn(context.WithValue(a.ctx, inside{}, true), tx)
	if a.tells && txStatus(tx) == txEnded {
		returned = true
		return a.left(err)
	}
	if err == nil {
		err = a.ctx.Err() // before COMMIT, the outcome is certain
	}
	if err == nil && a.outcome.note != nil {
		err = a.outcome.note(a.ctx)
	}
	if err != nil {
		returned = true
		return a.undone(err)
	}
	err = a.finish()
	returned = true
	if err != nil {
		return a.uncommitted(err)
	}
	return nil
}

// unsupported lists how drivers begin the text of an error about an isolation level, or
// about read-only mode, that they do not know. They have no type for it.
var unsupported = []string{
	"sql: driver does not support ",      // database/sql, for drivers without options
	"pq: isolation level not supported",  // lib/pq
	"unsupported isolation: ",            // pgx's driver for database/sql
	"mysql: unsupported isolation level", // go-sql-driver/mysql

	// go-mssqldb
	"isolation level is not supported or unknown",
	"LevelWriteCommitted isolation level is not supported",
	"LevelLinearizable isolation level is not supported",
	"read-only transactions are not supported",
}

// isUnsupported reports whether begin failed because its options are not the driver's, so
// that every attempt would.
func isUnsupported(err error) bool {
	for e := range errfacts.All(err) {
		if !errfacts.IsPlain(e) {
			continue
		}
		text := e.Error()
		if slices.ContainsFunc(unsupported, func(start string) bool { return strings.HasPrefix(text, start) }) {
			return true
		}
	}
	return false
}

const (
	byStatement = "fn ended the transaction with a statement, such as COMMIT, ROLLBACK, PREPARE TRANSACTION or DDL in MySQL: remove it, because InTx commits and rolls back"
	byMethod    = "fn called Commit or Rollback of the transaction, perhaps in a defer: remove the call, because InTx commits and rolls back"
	byWriting   = "fn writes, but the transaction was begun as read-only"
)

// left returns the error of an attempt whose fn ended the transaction, usually with a
// statement, and returned err.
func (a *attempt) left(err error) error {
	if err == nil {
		err = errors.New("it returned nil")
	}
	f := &failure{err: err}
	if hasEnded(a.undo()) { // returns the connection, unless a method has
		return f.unknown(byMethod)
	}
	return f.unknown(byStatement)
}

// undone rolls back an attempt that failed with err before COMMIT, and returns its error.
func (a *attempt) undone(err error) error {
	f := &failure{err: err}
	writes := readOnly(err) && a.beganReadOnly()
	moved := hasMoved(err) && !writes
	closed := moved && a.close()
	f.rollback = a.undo() // also returns a closed connection to its pool
	if moved || f.rollback != nil && lostConnection(err) {
		a.forget()
	}
	switch {
	case f.rollback != nil && hasEnded(f.rollback):
		f.rollback = nil
		return f.unknown(byMethod)
	case writes:
		f.text = byWriting
		return retry.Permanent(f)
	case f.rollback == nil || closed:
		return err
	}
	return f
}

// uncommitted returns the error of an attempt whose COMMIT failed with err.
func (a *attempt) uncommitted(err error) error {
	f := &failure{err: err}
	if cause := a.undo(); cause != nil && !hasEnded(cause) {
		f.rollback = cause
	}
	if hasMoved(err) || lostConnection(err) {
		a.forget() // before the question
	}
	switch outcome := outcomeOf(err); {
	case hasEnded(err):
		return f.unknown(byMethod)
	case outcome == outcomeUnknown:
		return a.asked(f)
	case outcome == outcomeRolledBack:
		f.text = "a statement failed before COMMIT and fn returned nil"
		return retry.Permanent(f)
	}
	if f.rollback == nil {
		return err
	}
	return f
}

// asked asks the database whether a transaction took effect whose COMMIT was lost.
func (a *attempt) asked(f *failure) error {
	took, err := a.outcome.settle(a.ctx, a.policy)
	switch {
	case err == errNotAsked:
		return f.unknown("COMMIT may have taken effect (see AskingDB and Once)")
	case err != nil:
		f.question = err
		return f.unknown("COMMIT may have taken effect")
	case took:
		return nil
	}
	f.text = "COMMIT did not take effect"
	return f
}

// hasEnded reports whether err means that the transaction had already ended.
// ErrTxClosed of github.com/jackc/pgx is recognized by its text.
func hasEnded(err error) bool {
	return errfacts.Is(err, sql.ErrTxDone) || errfacts.HasText(err, "tx is closed")
}

// failure adds information to the error returned by fn or Commit.
type failure struct {
	text      string
	err       error // from fn or Commit; it alone decides the class
	rollback  error
	question  error // why the outcome remained unknown; nil if it was not asked for
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
	if f.question != nil {
		text += "; asking the database failed: " + f.question.Error()
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
// rollback reports. It ignores that, according to DefaultClassifier, a statement may have
// taken effect, because no statement takes effect without COMMIT.
type classifier struct{ next retry.Classifier }

func (c classifier) Classify(err error) retry.Verdict {
	f, ok := errfacts.As[*failure](err)
	if ok {
		if o, tooLong := err.(*errfacts.Overtime); tooLong {
			err = &errfacts.Overtime{Err: f.err, Limit: o.Limit}
		} else {
			err = f.err
		}
	}
	v := retry.Policy{Classifier: c.next}.Classify(err)
	v.Unrepeatable = v.Unrepeatable && !retry.DefaultClassifier{}.Classify(err).Unrepeatable
	if ok && f.uncertain && v.Class == retry.ClassPermanent {
		v.Class = retry.ClassTransient // so the call ends with ErrUnrepeatable
	}
	return v
}
