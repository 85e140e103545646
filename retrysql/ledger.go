package retrysql

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gobackoff/retry"
)

// A Ledger does for other databases what [AskingDB] does for PostgreSQL. It is a table, in
// which each transaction leaves a row:
//
//	CREATE TABLE ledger (
//		id CHAR(26) PRIMARY KEY,
//		void BOOLEAN NOT NULL,
//		at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
//	)
//
// Its statements differ in their placeholders. With MySQL and MariaDB, and with $1 and $2
// in CockroachDB:
//
//	ledger := retrysql.Ledger{
//		Insert: "INSERT INTO ledger (id, void) VALUES (?, ?)",
//		Select: "SELECT void FROM ledger WHERE id = ?",
//	}
//	err := retrysql.InTx(ctx, policy, ledger.DB(db), nil, fn)
//
// Just before COMMIT, the transaction inserts a row with a random id, which costs one
// statement. If the COMMIT is lost, another connection tries to insert a void row with the
// same id. The primary key makes it wait for the end of the transaction. The id then
// permanently belongs to the transaction, which is success, or to the void row, and the
// transaction runs again under the policy. Only a committed row counts: it is read at READ
// COMMITTED, which the driver must support, whatever the isolation level of db is. The
// question is repeated for five seconds, as by AskingDB.
//
// Nothing removes the rows. Delete those that are older than any call and any connection
// of a client may last, such as a day:
//
//	DELETE FROM ledger WHERE at < CURRENT_TIMESTAMP - INTERVAL 1 DAY
//
// All connections of db have to lead to servers of one cluster. Read-only transactions
// leave no row, and run again.
type Ledger struct {
	Insert string // inserts a row, with the parameters id and void
	Select string // selects void of the row with the parameter id
}

// DB returns db with the ledger, for [InTx].
func (l Ledger) DB(db *sql.DB) Beginner {
	return beginner{db, func(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
		if l.Insert == "" || l.Select == "" {
			return nil, fmt.Errorf("%w Ledger: Insert or Select is empty", retry.ErrInvalid)
		}
		tx, err := db.BeginTx(ctx, opts)
		id := rand.Text()
		q := outcomeQuery{
			note: func(ctx context.Context) error {
				_, err := tx.ExecContext(ctx, l.Insert, id, false)
				return ofStatement("Insert", err)
			},
			ask: func(ctx context.Context) (bool, error) { return l.took(ctx, db, id) },
		}
		if opts != nil && opts.ReadOnly {
			q = outcomeQuery{ask: func(context.Context) (bool, error) { return false, nil }}
		}
		attemptOf(ctx).outcome = q
		return tx, err
	}}
}

// took reports whether the row belongs to the transaction. Whether the void row could be
// inserted does not matter, if there is a row that is committed. At READ UNCOMMITTED, the
// row might be that of a transaction that will be rolled back.
func (l Ledger) took(ctx context.Context, db *sql.DB, id string) (bool, error) {
	_, failed := db.ExecContext(ctx, l.Insert, id, true)
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return false, errors.Join(ofStatement("Insert", failed), err)
	}
	defer func() { _ = tx.Rollback() }()
	var void bool
	if err := tx.QueryRowContext(ctx, l.Select, id).Scan(&void); err != nil {
		return false, errors.Join(ofStatement("Insert", failed), ofStatement("Select", err))
	}
	return !void, nil
}

// ofStatement adds to err which statement of a Ledger failed.
func ofStatement(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s of the Ledger failed (see Ledger for the table and its statements): %w", name, err)
}
