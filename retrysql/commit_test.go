package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/retrysql/internal/sqlitefake"
)

// Errors with a severity, in the field where pgx (SeverityUnlocalized) and lib/pq
// (Severity) report it. After FATAL and PANIC, PostgreSQL closes the connection.
type (
	fatalPgx struct {
		sqlState
		Severity, SeverityUnlocalized string
	}
	fatalPq struct {
		sqlState
		Severity string
	}
)

// TestOutcome checks which failures of COMMIT prove that the transaction had no effect.
func TestOutcome(t *testing.T) {
	lost := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, test := range []struct {
		err   error
		known bool
	}{
		// PostgreSQL and its relatives
		{sqlState("40001"), true},
		{sqlState("40P01"), true},
		{sqlState("23505"), true},
		{sqlState("53100"), true},
		{fmt.Errorf("commit: %w", sqlState("40001")), true},
		{fmt.Errorf("%w: %w", errors.New("commit"), sqlState("40001")), true},
		{fatalPgx{"40001", "FEHLER", "ERROR"}, true},
		{&fatalPq{"40001", "ERROR"}, true},
		{errors.New("pq: could not complete operation in a failed transaction"), true},
		{fatalPgx{"53100", "PANIK", "PANIC"}, false},
		{&fatalPq{"25P03", "FATAL"}, true},
		{&fatalPq{"25P04", "FATAL"}, false},
		{sqlState("40003"), false},
		{sqlState("08006"), false},
		{sqlState("08007"), false},
		{sqlState("57014"), false},
		{sqlState("57P01"), false},
		{sqlState("58000"), false},
		{sqlState("XX000"), false},
		{sqlState("XXA00"), false},
		{sqlState("00000"), false},
		{sqlState(""), false},
		{errors.Join(sqlState("40001"), lost), false},
		{errors.Join(sqlState("40001"), io.EOF), false},
		{errors.Join(sqlState("40001"), sqlState("08006")), false},

		// MySQL and its relatives
		{mysqlError(1213, "40001"), true},
		{mysqlError(1205, "HY000"), true},
		{mysqlError(3101, "40000"), true},
		{mysqlError(1105, "HY000"), false},
		{mysqlError(1180, "HY000"), false},
		{mysqlError(1053, "08S01"), false},
		{mysqlError(1317, "70100"), false},
		{mysqlError(2013, "HY000"), false},
		{mysqlError(9001, "HY000"), false},
		{mysqlError(8022, "HY000"), true},
		{mysqlError(8028, "HY000"), true},
		{mysqlError(9005, "HY000"), false},
		{mysqlError(9007, "HY000"), true},
		{errors.New("invalid connection"), false},

		// SQLite
		{sqlitefake.Modernc(5), true},
		{sqlitefake.Modernc(787), true}, // a foreign key
		{sqlitefake.Mattn(6), true},
		{sqlitefake.Ncruces(261), true}, // busy, recovery
		{sqlitefake.Modernc(10), false},
		{sqlitefake.Ncruces(9), false},
		{sqlitefake.Other(), false},

		// Others
		{safe{}, false},
		{driver.ErrBadConn, false},
		{io.EOF, false},
		{lost, false},
		{context.DeadlineExceeded, false},
		{sql.ErrTxDone, false},
		{errTxClosed, false},
		{errors.New("of another driver"), false},
		{(*fatalPq)(nil), false}, // whose method panics
	} {
		t.Run(fmt.Sprintf("%T %[1]v", test.err), func(t *testing.T) {
			f := &fake{scripts: []script{{commit: test.err}}}
			policy := atOnce
			policy.MaxAttempts = 1
			err := retrysql.InTxFunc(t.Context(), policy, f.begin, f.fn)
			require.Error(t, err)
			assert.Equal(t, !test.known, errors.Is(err, retry.ErrUnrepeatable), "%v", err)
		})
	}
}

// TestCommitCutByContext: if the context ends during COMMIT, the error matches both the
// context's error and ErrUnrepeatable.
func TestCommitCutByContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{scripts: []script{{commit: context.Canceled}}}
	err := retrysql.InTxFunc(ctx, atOnce, func(ctx context.Context) (cut, error) {
		tx, err := f.begin(ctx)
		return cut{tx, cancel}, err
	}, func(context.Context, cut) error { return nil })
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
}

type cut struct {
	*fakeTx
	cancel context.CancelFunc
}

func (t cut) Commit(ctx context.Context) error { t.cancel(); return t.fakeTx.Commit(ctx) }
