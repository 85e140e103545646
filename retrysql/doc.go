// Package retrysql retries whole database transactions, but only those that
// certainly had no effect.
//
//	err := retrysql.InTx(ctx, policy, db, nil, func(ctx context.Context, tx *sql.Tx) error {
//		_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - 1 WHERE id = $1", id)
//		return err
//	})
//
// # What to call
//
//	your case                                        with database/sql        with pgx and others
//	a lost COMMIT may stay unknown                   InTx                     InTxFunc
//	PostgreSQL tells whether a lost COMMIT           InTx with AskingDB       InTxFunc with Asking
//	took effect
//	another database tells, by a row                 Once with NoID           OnceFunc with NoID
//	a repeated request, message or job must do       Once with its ID         OnceFunc with its ID
//	its work once, and get the first result
//	after a failover, no old connection is used      nothing: InTx does it    Resetting around begin
//
// All follow a [retry.Policy], with the limits, hooks and errors of [retry.Do]. [InTxFunc]
// and [OnceFunc] accept pool.Begin of pgx without importing it.
//
// # What is retried
//
// An attempt begins a transaction, calls fn and commits. If begin or fn fails, or the
// context of the attempt ends before COMMIT, the transaction is rolled back. It had no
// effect, even if the connection was lost, so the class of the error decides: serialization
// failures, deadlocks, lock timeouts and lost connections are retried; violated constraints
// are not. An error that [retry.DefaultClassifier] calls unrepeatable is retried, too. One
// that fn marks with [retry.Unrepeatable], or that only the policy's own Classifier calls
// unrepeatable, is not.
//
// If COMMIT fails, the rule is:
//
//	the database refused it           no effect: the class decides
//	a statement had failed before,    permanent: fn returned nil although the
//	so COMMIT rolled back             transaction could not be committed
//	everything else                   unknown: not retried, unless the database is asked
//
// The database has refused a COMMIT if it responded with
//
//   - a SQLSTATE, which the error's method SQLState() string returns. Excepted are 40003, the
//     classes 08, 57, 58 and XX, and the severities FATAL and PANIC. But 25P03, which says that
//     the server has ended an idle transaction, always counts as a refusal. This is the rule
//     for PostgreSQL, CockroachDB and other databases with the same protocol, through pgx and
//     lib/pq;
//   - an error packet from MySQL or MariaDB, through go-sql-driver/mysql. Excepted are 1105,
//     1180, 1297, 3032, 3100, 3168, and SQLSTATEs in class 08 or 70. Numbers outside the ranges
//     of MySQL and MariaDB come from proxies and TiDB. Of these, only 8022, 8027, 8028 and
//     9007, which are TiDB's conflicts and changed schemas, count as a refusal;
//   - SQLITE_BUSY, SQLITE_LOCKED or SQLITE_CONSTRAINT, through modernc.org/sqlite,
//     mattn/go-sqlite3 and ncruces/go-sqlite3.
//
// After a failed COMMIT through any other driver, the outcome is unknown. A driver's
// claim that nothing was sent does not count: if the connection ends before the
// response, pgx 5.9.0 to 5.12.0 reports a COMMIT that took effect as safe to retry, and
// lib/pq returns [driver.ErrBadConn]. Before COMMIT, such claims are harmless.
//
// # Unknown outcomes
//
// If the outcome is unknown, the error matches [retry.ErrUnrepeatable], even if the context
// has ended. To find out whether the transaction took effect, use AskingDB with PostgreSQL,
// and [Once] with other databases. While the connection is open, the server may still be
// processing COMMIT, so a SELECT proves nothing. A transaction that inserts a row with the
// same key waits for the first one, or fails.
//
// # What fn must and must not do
//
// fn must return the errors of its statements. If fn ignores an error, PostgreSQL refuses to
// commit, but MySQL does not. After a deadlock (1213), MySQL has already rolled back, and it
// commits each later statement of fn by itself.
//
// fn must not have effects that a rollback does not undo: messages, files, other databases,
// appending to a slice outside fn, statements that commit implicitly (such as DDL in MySQL).
//
// fn must use tx for all its statements: a statement on db would take a second
// connection, and would wait forever if the pool has only one. fn must not keep tx: after
// the transaction has ended, the methods of tx return [sql.ErrTxDone], or pgx.ErrTxClosed
// with pgx.
//
// fn must not end tx, neither with its methods, such as a deferred tx.Rollback, nor with a
// statement: COMMIT, ROLLBACK, PREPARE TRANSACTION, or one that commits implicitly. The outcome
// would be unknown. InTx notices if fn calls a method that ends tx. With pgx, it also notices
// such a statement. The call then ends with [retry.ErrUnrepeatable] and an error that names the
// mistake. With package database/sql, it does not notice such a statement, and may run fn again
// although a part of it was committed. The command retrycheck finds these mistakes in the
// source code.
//
// # Nesting
//
// Calling InTx with fn's context fails with [retry.ErrInvalid]. A savepoint would
// not help: PostgreSQL and MySQL abort the whole transaction after a serialization failure
// or a deadlock, and only the outermost transaction can be run again. An inner transaction
// on another database would be run again with the outer one, although it had already been
// committed.
//
// # Contexts
//
// The context of an attempt bounds begin and the statements of fn. While fn runs, the
// transaction stays open even if the context ends. So fn has to return soon after that. COMMIT,
// rollback and the question for the outcome each get five seconds more, so that they can
// finish. After that, COMMIT is interrupted with pgx and with pgx's driver for
// database/sql; other drivers cannot interrupt it. If a call must not hang when its server
// hangs, set a time limit in the driver, such as readTimeout in go-sql-driver/mysql.
//
// # Failover
//
// After an attempt that lost its connection, or whose error says that the server accepts no
// writes or shuts down, the next attempt gets a new connection. InTx and Once close the idle
// connections of a [*sql.DB]; a connection that another caller is using stays open. A pool of
// pgx needs [Resetting]. Without it, only the connection of the failed transaction is closed,
// and the next attempt may get another old one. Other packages than pgx reuse their
// connections.
//
// If the transaction was begun as read-only, a write is a permanent error instead. InTx knows
// this from opts, and InTxFunc from pgx, if the server is PostgreSQL 14 or newer.
//
// # Isolation
//
// opts selects the isolation level and read-only mode. With REPEATABLE READ in
// PostgreSQL and with SERIALIZABLE, retries are normal: allow more than the zero Policy's
// three attempts. Each attempt has its own snapshot, so fn must not use data read by an
// earlier attempt. Read-only transactions follow the same rules, although an unknown outcome
// would not matter.
package retrysql
