package retrysql

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// Keys holds the SQL statements with which [Once] uses its table of keys. [PostgresKeys] are
// the statements for the table that [PostgresKeysTable] creates.
type Keys struct {
	// Claim inserts a row with the parameters id and fingerprint, and NULL as result, unless
	// there is one. If another transaction has inserted one, it does nothing or fails with
	// MySQL's error 1205 or 3572. A Claim that waits for the other transaction is correct, too,
	// but then a duplicate waits until the work in progress has ended, instead of failing at
	// once.
	Claim string
	// Find selects fingerprint and result of the row with the parameter id. It must not see a
	// row that another transaction has inserted and not committed, at any isolation level.
	// Instead of finding nothing, it may fail with the errors above.
	Find  string
	Store string // sets the result, the first parameter, of the row with the second, id
	// Release is executed after the work, before COMMIT or rollback, with the parameter id.
	// It releases what Claim has locked and the end of the transaction does not release.
	// If nothing is to be released, it is empty.
	Release string
}

// PostgresKeys is for PostgreSQL. It takes an advisory lock that ends with the transaction, so
// it works with PgBouncer's transaction mode, too. If the session has no
// idle_in_transaction_session_timeout, it sets one of a minute for the transaction.
var PostgresKeys = Keys{
	Claim: `INSERT INTO idempotency_key (id, fingerprint) SELECT $1::bytea, $2::bytea
		WHERE (current_setting('idle_in_transaction_session_timeout') <> '0' OR set_config('idle_in_transaction_session_timeout', '60000', true) <> '')
		AND pg_try_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex'), 0)) ON CONFLICT (id) DO NOTHING`,
	Find:  "SELECT fingerprint, result FROM idempotency_key WHERE id = $1",
	Store: "UPDATE idempotency_key SET result = $1 WHERE id = $2",
}

// MariaDBKeys is for MariaDB 10.6 and newer.
var MariaDBKeys = Keys{
	Claim: "SET STATEMENT innodb_lock_wait_timeout = 0 FOR INSERT IGNORE INTO idempotency_key (id, fingerprint) VALUES (?, ?)",
	Find:  "SELECT fingerprint, result FROM idempotency_key WHERE id = ?",
	Store: "UPDATE idempotency_key SET result = ? WHERE id = ?",
}

// MySQLKeys is for MySQL 8.0 and newer. MySQL's INSERT always waits for a row that another
// transaction has inserted. Claim therefore first takes a named lock (GET_LOCK), without
// waiting. A named lock exists on one server only: if several servers accept writes, a
// duplicate on another server waits for the work in progress.
var MySQLKeys = Keys{
	Claim: `INSERT IGNORE INTO idempotency_key (id, fingerprint)
		SELECT k.id, k.fingerprint FROM (SELECT CAST(? AS BINARY) AS id, CAST(? AS BINARY) AS fingerprint) AS k
		WHERE GET_LOCK(SHA2(CONCAT_WS('/', DATABASE(), k.id), 256), 0) = 1`,
	Find:    "SELECT fingerprint, result FROM idempotency_key WHERE id = ? FOR SHARE NOWAIT",
	Store:   MariaDBKeys.Store,
	Release: "DO RELEASE_LOCK(SHA2(CONCAT_WS('/', DATABASE(), CAST(? AS BINARY)), 256))",
}

// PostgresKeysTable creates the table of PostgresKeys, with an index for the removal of old
// rows.
const PostgresKeysTable = `CREATE TABLE idempotency_key (
	id BYTEA PRIMARY KEY,
	fingerprint BYTEA NOT NULL,
	result BYTEA,
	at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX idempotency_key_at ON idempotency_key (at)`

// MariaDBKeysTable creates the table of MariaDBKeys, with an index for the removal of old
// rows.
const MariaDBKeysTable = `CREATE TABLE idempotency_key (
	id VARBINARY(255) PRIMARY KEY,
	fingerprint BINARY(32) NOT NULL,
	result MEDIUMBLOB,
	at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
	INDEX (at)
) ENGINE = InnoDB`

// MySQLKeysTable creates the table of MySQLKeys, with an index for the removal of old rows.
const MySQLKeysTable = MariaDBKeysTable

// A Key stands for a piece of work that is done once.
type Key struct {
	In      Keys   // the table, such as PostgresKeys
	ID      string // 1 to 255 bytes; include the user and the operation if others could choose the same
	Request []byte // what was asked for with the key; only its SHA-256 is stored
	Wait    bool   // retry under the policy while the work is in progress elsewhere, instead of failing at once

	// NoID means that no other call has a key for this work, so only a lost COMMIT could do
	// it twice. ID must be empty: each attempt takes a random one. Request and Wait are not
	// used, and the result is not stored.
	NoID bool
}

// MaxResult is the largest size of a result, in bytes.
const MaxResult = 1 << 20

var (
	// ErrInProgress means that another transaction is doing the work of the key. It is
	// transient: if the operation of a [retry.Do] returns it, Do retries.
	ErrInProgress = errors.New("retrysql: work with this key is in progress")
	// ErrOtherRequest means that the key was used for another request.
	ErrOtherRequest = errors.New("retrysql: this key was used for another request")
)

// Once lets the statements of fn take effect once for a key, and returns the same result to
// every call with this key. What fn does outside of its transaction, such as a request to
// another service, happens again whenever fn is called again: send the key with it, so that
// the other service can recognize the repetition.
//
// Once calls fn in a transaction as [InTx] does, and stores fn's result with the key in the
// same transaction. A later call with the same key returns the stored result and does not call
// fn, whoever makes it and however the first one ended. After a lost COMMIT, Once looks for the
// row of the key, so db need not come from AskingDB.
//
// If fn fails or panics, nothing is stored, and fn may be called again, under the policy
// or by a later call. A failure that later calls should get, such as a rejected order, is a
// result. A result has up to [MaxResult] bytes; nil is returned as an empty slice.
//
// If another transaction is doing the work, Once returns [ErrInProgress] immediately, or
// retries under the policy if key.Wait is set. If the key was used with a different Request,
// it returns [ErrOtherRequest]. If the id or the statements are unusable, the error matches
// [retry.ErrInvalid].
//
// A caller whose process is stuck, or whose machine is gone, keeps the key until its server
// ends the transaction. PostgreSQL does so after the session's
// idle_in_transaction_session_timeout, which Once sets to a minute if it is not set. So fn must
// not pause for longer between two statements. With MariaDB and MySQL, set
// idle_transaction_timeout or wait_timeout of the session.
//
// The promise lasts as long as the row. Delete rows only when no client and no queue
// will send their key again, which is a day at least:
//
//	DELETE FROM idempotency_key WHERE at < CURRENT_TIMESTAMP - INTERVAL '1' DAY
//
// opts may ask for any isolation level, but not for read-only mode. All connections of db
// have to lead to servers of one cluster.
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
	case key.NoID && key.ID != "":
		return nil, fmt.Errorf("%w key: it has NoID and an ID", retry.ErrInvalid)
	case !key.NoID && (key.ID == "" || len(key.ID) > 255):
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
func (w *work[T]) do(ctx context.Context, tx T, fn func(context.Context, T) ([]byte, error)) (err error) {
	if w.key.NoID {
		w.id = []byte(rand.Text())
	}
	defer func() {
		released := w.release(ctx, tx)
		if err == nil {
			err = released
		}
	}()
	claimed, err := w.claim(ctx, tx, w.fingerprint)
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
	if w.key.NoID {
		return nil // nobody asks for it
	}
	return withoutRow(w.query(ctx, tx, w.key.In.Store, []any{w.result, w.id}))
}

// release executes Release even if ctx has ended: the session of a pool would keep its lock.
func (w *work[T]) release(ctx context.Context, tx T) error {
	if w.key.In.Release == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return withoutRow(w.query(ctx, tx, w.key.In.Release, []any{w.id}))
}

// claim inserts the row of the key, or reads the result of its work. A row without result is
// tx's own, because one that is committed has a result.
func (w *work[T]) claim(ctx context.Context, tx T, fingerprint [sha256.Size]byte) (claimed bool, err error) {
	if err := withoutRow(w.query(ctx, tx, w.key.In.Claim, []any{w.id, fingerprint[:]})); locked(err) {
		return false, ErrInProgress
	} else if err != nil {
		return false, err
	}
	var found []byte
	var result sql.Null[[]byte] // some drivers return nil for an empty result, too
	switch err := w.query(ctx, tx, w.key.In.Find, []any{w.id}, &found, &result); {
	case locked(err) || err != nil && withoutRow(err) == nil:
		return false, ErrInProgress
	case err != nil:
		return false, err
	case string(found) != string(fingerprint[:]):
		return false, retry.Permanent(ErrOtherRequest)
	case !result.Valid:
		return true, nil
	}
	w.result = append([]byte{}, result.V...)
	return false, nil
}

// took reports whether the work was done by the transaction whose COMMIT was lost, or by
// another one. If the key can be claimed, that transaction has ended without effect.
func (w *work[T]) took(ctx context.Context, begin func(context.Context) (T, error)) (bool, error) {
	tx, err := begin(ctx)
	if err != nil {
		return false, err
	}
	commit, rollback := ends(tx)
	defer func() { _ = rollback(ctx) }()
	if !w.key.NoID {
		claimed, err := w.claim(ctx, tx, w.fingerprint)
		_ = w.release(ctx, tx)
		return err == nil && !claimed, err
	}
	// The next attempt takes another id, so a row that stays keeps this one from being
	// committed later, by another server of the cluster.
	_, err = w.claim(ctx, tx, void)
	released := w.release(ctx, tx)
	switch {
	case errfacts.Is(err, ErrOtherRequest):
		return true, nil
	case err != nil:
		return false, err
	case released != nil:
		return false, released
	}
	return false, commit(ctx)
}

// void is the fingerprint of a row that belongs to no transaction, and no SHA-256.
var void [sha256.Size]byte

// withoutRow returns the error of a query that need not have a row.
func withoutRow(err error) error {
	if errfacts.Is(err, sql.ErrNoRows) || errfacts.HasText(err, "no rows in result set") { // pgx
		return nil
	}
	return err
}

// locked reports whether err is error 1205 of MySQL and MariaDB or 3572 of MySQL: another
// transaction has locked the row.
func locked(err error) bool {
	for e := range errfacts.All(err) {
		switch errfacts.MySQLNumber(e) {
		case 1205, 3572:
			return true
		}
	}
	return false
}
