package retrysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// Keys are the statements for a table of keys, such as [PostgresKeys] for [PostgresKeysTable].
type Keys struct {
	// Claim inserts a row with the parameters id and fingerprint, and NULL as result, unless
	// there is one. If another transaction has inserted one, it does nothing or fails with
	// MySQL's error 1205. If it waits instead, so do duplicates of work in progress.
	Claim string
	Find  string // selects fingerprint and result of the row with the parameter id
	Store string // sets the result, the first parameter, of the row with the second, id
}

// PostgresKeys is for PostgreSQL. It takes an advisory lock for each transaction, which also
// PgBouncer's transaction mode allows.
var PostgresKeys = Keys{
	Claim: `INSERT INTO idempotency_key (id, fingerprint) SELECT $1::bytea, $2::bytea
		WHERE pg_try_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex'), 0)) ON CONFLICT (id) DO NOTHING`,
	Find:  "SELECT fingerprint, result FROM idempotency_key WHERE id = $1",
	Store: "UPDATE idempotency_key SET result = $1 WHERE id = $2",
}

// MariaDBKeys is for MariaDB 10.6 and newer.
var MariaDBKeys = Keys{
	Claim: "SET STATEMENT innodb_lock_wait_timeout = 0 FOR INSERT IGNORE INTO idempotency_key (id, fingerprint) VALUES (?, ?)",
	Find:  "SELECT fingerprint, result FROM idempotency_key WHERE id = ?",
	Store: "UPDATE idempotency_key SET result = ? WHERE id = ?",
}

// PostgresKeysTable creates the table of PostgresKeys.
const PostgresKeysTable = `CREATE TABLE idempotency_key (
	id BYTEA PRIMARY KEY,
	fingerprint BYTEA NOT NULL,
	result BYTEA,
	at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP
)`

// MariaDBKeysTable creates the table of MariaDBKeys.
const MariaDBKeysTable = `CREATE TABLE idempotency_key (
	id VARBINARY(255) PRIMARY KEY,
	fingerprint BINARY(32) NOT NULL,
	result MEDIUMBLOB,
	at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
	INDEX (at)
) ENGINE = InnoDB`

// A Key stands for a piece of work that is done once.
type Key struct {
	In      Keys   // the table, such as PostgresKeys
	ID      string // 1 to 255 bytes; include the user and the operation if others could choose the same
	Request []byte // what was asked for with the key; only its SHA-256 is stored
	Wait    bool   // retry under the policy while the work is in progress elsewhere, instead of failing at once
}

// MaxResult is the largest size of a result, in bytes.
const MaxResult = 1 << 20

var (
	// ErrInProgress means that another transaction is doing the work of the key. It is
	// transient: a job or a Do that returns it is tried again.
	ErrInProgress = errors.New("retrysql: work with this key is in progress")
	// ErrOtherRequest means that the key was used for another request.
	ErrOtherRequest = errors.New("retrysql: this key was used for another request")
)

// Once does the work of a key once: it calls fn in a transaction as [InTx] does, and stores
// fn's result with the key in the same transaction. A later call with the same key returns
// the stored result and does not call fn, whoever makes it and however the first one ended.
//
// If fn fails or panics, nothing is stored, and fn may be called again, under the policy
// or by a later call. A failure that later calls should get, such as a rejected order, is a
// result. A result has up to [MaxResult] bytes; nil is returned as an empty slice.
//
// If the work is in progress in another transaction, the error matches [ErrInProgress], at
// once unless key.Wait; if the key was used with another Request, [ErrOtherRequest]. If the
// id or the statements are unusable, it matches [retry.ErrInvalid]. After a lost COMMIT, the
// row of the key is what the row of a [Ledger] is otherwise, so db need not be asking.
//
// The promise lasts as long as the row. Delete rows only when no client and no queue
// will send their key again, which is a day at least:
//
//	DELETE FROM idempotency_key WHERE at < CURRENT_TIMESTAMP - INTERVAL '1' DAY
//
// opts may ask for any isolation level. All connections of db have to lead to servers of one
// cluster.
func Once(ctx context.Context, p retry.Policy, db Beginner, opts *sql.TxOptions, key Key, fn func(ctx context.Context, tx *sql.Tx) ([]byte, error)) ([]byte, error) {
	if db == nil || fn == nil {
		return nil, fmt.Errorf("%w transaction: db or fn is nil", retry.ErrInvalid)
	}
	return OnceFunc(ctx, p, beginOn(db, opts), (*sql.Tx).QueryRowContext, key, fn)
}

// OnceFunc is [Once] for packages other than database/sql, as [InTxFunc] is InTx; queryTx
// queries a row in a transaction. With a pgx pool:
//
//	result, err := retrysql.OnceFunc(ctx, policy, pool.Begin, pgx.Tx.QueryRow, key, fn)
func OnceFunc[T any, R row](
	ctx context.Context, p retry.Policy,
	begin func(context.Context) (T, error),
	queryTx func(tx T, ctx context.Context, query string, args ...any) R,
	key Key, fn func(ctx context.Context, tx T) ([]byte, error),
) (result []byte, err error) {
	switch in := key.In; {
	case begin == nil || queryTx == nil || fn == nil:
		return nil, fmt.Errorf("%w transaction: begin, queryTx or fn is nil", retry.ErrInvalid)
	case key.ID == "" || len(key.ID) > 255:
		return nil, fmt.Errorf("%w key: its ID has %d bytes, not 1 to 255", retry.ErrInvalid, len(key.ID))
	case in.Claim == "" || in.Find == "" || in.Store == "":
		return nil, fmt.Errorf("%w key: In has no statements", retry.ErrInvalid)
	}
	w := &work[T]{key: key, id: []byte(key.ID), fingerprint: sha256.Sum256(key.Request)}
	w.query = func(ctx context.Context, tx T, query string, args []any, dest ...any) error {
		return queryTx(tx, ctx, query, args...).Scan(dest...)
	}
	err = InTxFunc(ctx, p, func(ctx context.Context) (T, error) {
		tx, err := begin(ctx)
		attemptOf(ctx).outcome = outcomeQuery{ask: func(ctx context.Context) (bool, error) { return w.took(ctx, begin) }}
		return tx, err
	}, func(ctx context.Context, tx T) error { return w.do(ctx, tx, fn) })
	switch {
	case w.busy:
		return nil, retry.Transient(ErrInProgress)
	case err != nil:
		return nil, err
	}
	return w.result, nil
}

// work is the state of one call.
type work[T any] struct {
	key         Key
	id          []byte
	fingerprint [sha256.Size]byte
	query       func(ctx context.Context, tx T, query string, args []any, dest ...any) error
	begun       bool // an attempt has claimed the key, and may still be open at the server
	busy        bool // another transaction does the work, and the call does not wait for it
	result      []byte
}

// do is one attempt, before its COMMIT.
func (w *work[T]) do(ctx context.Context, tx T, fn func(context.Context, T) ([]byte, error)) error {
	claimed, err := w.claim(ctx, tx)
	if err == ErrInProgress && !w.key.Wait && !w.begun {
		w.busy = true
		return retry.Permanent(err) // for the loop of this call only
	}
	if err != nil || !claimed {
		return err
	}
	w.begun = true
	result, err := fn(ctx, tx)
	if err != nil {
		return err
	}
	if len(result) > MaxResult {
		return retry.Permanent(fmt.Errorf("retrysql: the result of a key has %d bytes, more than MaxResult (%d)", len(result), MaxResult))
	}
	w.result = append([]byte{}, result...) // not nil, which would be NULL
	return withoutRow(w.query(ctx, tx, w.key.In.Store, []any{w.result, w.id}))
}

// claim inserts the row of the key, or reads the result of its work. A row without result is
// tx's own, because one that is committed has a result.
func (w *work[T]) claim(ctx context.Context, tx T) (claimed bool, err error) {
	if err := withoutRow(w.query(ctx, tx, w.key.In.Claim, []any{w.id, w.fingerprint[:]})); locked(err) {
		return false, ErrInProgress
	} else if err != nil {
		return false, err
	}
	var fingerprint, result []byte
	switch err := w.query(ctx, tx, w.key.In.Find, []any{w.id}, &fingerprint, &result); {
	case err != nil && withoutRow(err) == nil:
		return false, ErrInProgress
	case err != nil:
		return false, err
	case string(fingerprint) != string(w.fingerprint[:]):
		return false, retry.Permanent(ErrOtherRequest)
	case result == nil:
		return true, nil
	}
	w.result = result
	return false, nil
}

// took reports whether the work was done by the transaction whose COMMIT was lost, or by
// another one. If the key can be claimed, that transaction has ended without effect.
func (w *work[T]) took(ctx context.Context, begin func(context.Context) (T, error)) (bool, error) {
	tx, err := begin(ctx)
	if err != nil {
		return false, err
	}
	_, rollback := ends(tx)
	defer func() { _ = rollback(ctx) }()
	claimed, err := w.claim(ctx, tx)
	return err == nil && !claimed, err
}

// withoutRow returns the error of a query that need not have a row.
func withoutRow(err error) error {
	if errors.Is(err, sql.ErrNoRows) || errfacts.HasText(err, "no rows in result set") { // pgx
		return nil
	}
	return err
}

// locked reports whether err is error 1205 of MySQL: another transaction has locked the row.
func locked(err error) bool {
	for e := range errfacts.All(err) {
		if number(reflect.Indirect(reflect.ValueOf(e)), "Number") == 1205 {
			return true
		}
	}
	return false
}
