package retrysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// An outcomeQuery asks whether a transaction whose COMMIT was lost took effect. The zero
// outcomeQuery does not ask.
type outcomeQuery struct {
	note func(ctx context.Context) error                  // called in the transaction, just before COMMIT
	ask  func(ctx context.Context) (took bool, err error) // called after a lost COMMIT, on another connection
}

var (
	errNotAsked = errors.New("not asked")
	errNoAnswer = errors.New("no answer yet")
)

// pauses are the delays between two questions. They are not the policy's, which may be 0:
// all clients ask at once, at the moment of a failover.
var pauses = retry.EqualJitter{Base: grace / 50, Cap: grace / 10}

// settle asks until there is an answer, but not longer than the grace, which begins when
// the COMMIT has failed, even if ctx has ended.
func (q outcomeQuery) settle(ctx context.Context, p retry.Policy) (took bool, err error) {
	if q.ask == nil {
		return false, errNotAsked
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // a deadline is no time of p.Clock
	defer cancel()
	defer time.AfterFunc(grace, cancel).Stop()
	again := retry.Policy{
		Backoff: pauses, MaxAttempts: retry.Unlimited, MaxElapsed: grace,
		AttemptTimeout: time.Second, Clock: p.Clock, Rand: p.Rand,
		Classifier: retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassTransient} }),
	}
	var reported error // by the database
	took, err = retry.DoValue(ctx, again, func(ctx context.Context) (bool, error) {
		took, err := q.ask(ctx)
		if errfacts.Is(err, errNoAnswer) {
			reported = err
		}
		return took, err
	})
	if err != nil && reported != nil {
		err = reported
	}
	return took, err
}

// A row is the result of a query with one row, such as a [*sql.Row] or a pgx.Row.
type row interface{ Scan(dest ...any) error }

// Resetting returns begin for [InTxFunc], with a function that closes the connections of
// begin's pool, such as Reset of a pgx pool:
//
//	begin := retrysql.Resetting(pool.Begin, pool.Reset)
//	err := retrysql.InTxFunc(ctx, policy, begin, fn)
//
// reset is called after an attempt that lost its connection, or whose error says that the
// server accepts no writes or shuts down. The next attempt then gets a new connection instead
// of an old one to the same server. The pool closes all its connections, even if only one was
// lost, and has to open new ones. Create begin once for a pool and share it: reset is then
// called once for all the transactions that one failure meets. InTx needs no Resetting.
func Resetting[T any](begin func(context.Context) (T, error), reset func()) func(context.Context) (T, error) {
	var mu sync.Mutex
	resets := 0
	return func(ctx context.Context) (T, error) {
		mu.Lock()
		seen := resets
		mu.Unlock()
		attemptOf(ctx).reset = func() {
			mu.Lock()
			defer mu.Unlock()
			if seen != resets {
				return // since this transaction began
			}
			resets++
			reset()
		}
		return begin(ctx)
	}
}

// AskingDB returns db with a second source of truth about a lost COMMIT: PostgreSQL itself,
// from version 13 on. Use it with [InTx] wherever db is used:
//
//	bank := retrysql.AskingDB(db)
//	err := retrysql.InTx(ctx, policy, bank, nil, fn)
//
// Just before COMMIT, each transaction reads its number, which costs one statement and
// needs no privileges. If the COMMIT is lost, another connection of db is asked for
// pg_xact_status: "committed" is success, and after "aborted" the transaction runs again
// under the policy. A transaction without a number has written nothing, so it runs again,
// too. (NOTIFY alone gets its number from COMMIT, and may notify twice.)
//
// An answer counts only if it comes from the server that executed the transaction: the same
// system, on the same timeline, without a crash in between. A promoted replica and a server
// that recovered from a crash may have used the number again. As long as another server
// answers, or none, or the transaction is still in progress, the question is repeated for
// five seconds, even if the context has ended, with delays of its own that grow from a tenth
// of a second to half a second. Then the outcome remains unknown.
func AskingDB(db *sql.DB) Beginner {
	return beginner{db, func(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
		begin := func(ctx context.Context) (*sql.Tx, error) { return db.BeginTx(ctx, opts) }
		return Asking(begin, db.QueryRowContext, (*sql.Tx).QueryRowContext)(ctx)
	}}
}

// Asking is [AskingDB] for [InTxFunc]: it returns a begin function. queryDB queries a row
// outside the transaction and queryTx inside. With a pgx pool:
//
//	begin := retrysql.Asking(pool.Begin, pool.QueryRow, pgx.Tx.QueryRow)
//	err := retrysql.InTxFunc(ctx, policy, begin, fn)
//
// Both get complete statements without parameters.
func Asking[T any, R row](
	begin func(context.Context) (T, error),
	queryDB func(ctx context.Context, query string, args ...any) R,
	queryTx func(tx T, ctx context.Context, query string, args ...any) R,
) func(context.Context) (T, error) {
	return func(ctx context.Context) (T, error) {
		tx, err := begin(ctx)
		var number, server string
		attemptOf(ctx).outcome = outcomeQuery{
			note: func(ctx context.Context) error {
				if err := queryTx(tx, ctx, selectNumber).Scan(&number, &server); err != nil {
					return fmt.Errorf("Asking and AskingDB failed to read the transaction's number, for which they need PostgreSQL 13 and EXECUTE on pg_control_system: %w", err)
				}
				return nil
			},
			ask: func(ctx context.Context) (bool, error) {
				if number == "" {
					return false, nil // it has written nothing
				}
				var status string
				if err := queryDB(ctx, selectStatus(number, server)).Scan(&status); err != nil {
					return false, err
				}
				return tookEffect(status)
			},
		}
		return tx, err
	}
}

// identity is an expression for the history of transaction numbers that a server is part
// of: its system, its timeline, and when its statistics began, which every recovery from a
// crash resets. A number that was not flushed before a crash may be reused. The control
// file's timeline would lag a promotion.
const identity = `CASE WHEN pg_is_in_recovery() THEN 'recovery' ELSE concat_ws('/',
	(SELECT system_identifier FROM pg_control_system()),
	substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
	extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time())) END`

const selectNumber = "SELECT coalesce(pg_current_xact_id_if_assigned()::text, ''), " + identity

func selectStatus(number, server string) string {
	return fmt.Sprintf("SELECT CASE WHEN %s = '%s' THEN coalesce(pg_xact_status('%s'::xid8), 'forgotten') ELSE 'another server' END",
		identity, strings.ReplaceAll(server, "'", ""), strings.ReplaceAll(number, "'", ""))
}

func tookEffect(status string) (bool, error) {
	switch status {
	case "committed":
		return true, nil
	case "aborted":
		return false, nil
	}
	return false, fmt.Errorf("%w: %s", errNoAnswer, status)
}

// beginner is a db whose transactions have an outcomeQuery.
type beginner struct {
	*sql.DB
	begin func(context.Context, *sql.TxOptions) (*sql.Tx, error)
}

func (b beginner) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	return b.begin(ctx, opts)
}
