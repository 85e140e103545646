package retrysql_test

import (
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// TestLedger: the row belongs either to the transaction or to the question.
func TestLedger(t *testing.T) {
	for _, took := range []bool{true, false} {
		f := &fake{scripts: []script{{commit: io.ErrUnexpectedEOF}}}
		rows := map[any]any{} // void by id, of committed transactions
		attempts := 0
		f.answer = func(query string, args []driver.NamedValue) ([]driver.Value, error) {
			id := args[0].Value
			if query == "select" {
				return []driver.Value{rows[id]}, nil
			}
			if args[1].Value == false {
				if attempts++; took || attempts > 1 {
					rows[id] = false
				}
				return nil, nil
			}
			if _, ok := rows[id]; ok {
				return nil, errDuplicate
			}
			rows[id] = true
			return nil, nil
		}
		db := retrysql.Ledger{Insert: "insert", Select: "select"}.DB(f.open(t))
		require.NoError(t, retrysql.InTx(t.Context(), atOnce, db, nil, noEffect))
		if took {
			assert.Equal(t, "begin commit begin rollback", f.takeCalls())
			assert.Len(t, rows, 1)
		} else {
			assert.Equal(t, "begin commit begin rollback begin commit", f.takeCalls())
			assert.Len(t, rows, 2)
		}
	}
}

// TestLedgerUncommitted: a row that is not committed does not count, although the session
// sees it, and although the void row could not be inserted for another reason than the key.
func TestLedgerUncommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{commit: io.ErrUnexpectedEOF}}}
		began, attempts := time.Now(), 0
		f.answer = func(query string, args []driver.NamedValue) ([]driver.Value, error) {
			open := time.Since(began) < time.Second
			switch {
			case query == "insert" && args[1].Value == true && open:
				return nil, mysqlError(1205, "HY000")
			case query == "insert" && args[1].Value == false:
				attempts++
			case query == "select" && open && sql.IsolationLevel(f.opts.Isolation) == sql.LevelReadCommitted:
				return nil, nil
			case query == "select":
				return []driver.Value{!open}, nil
			}
			return nil, nil
		}
		db := retrysql.Ledger{Insert: "insert", Select: "select"}.DB(f.open(t))
		require.NoError(t, retrysql.InTx(t.Context(), atOnce, db, nil, noEffect))
		assert.Equal(t, 2, attempts)
	})
}

// TestLedgerReadOnly: a read-only transaction leaves no row and runs again.
func TestLedgerReadOnly(t *testing.T) {
	f := &fake{scripts: []script{{commit: io.ErrUnexpectedEOF}}}
	db := retrysql.Ledger{Insert: "insert", Select: "select"}.DB(f.open(t))
	require.NoError(t, retrysql.InTx(t.Context(), atOnce, db, &sql.TxOptions{ReadOnly: true}, noEffect))
	assert.Equal(t, "begin commit begin commit", f.takeCalls())
}

// TestLedgerInvalid: a Ledger without statements is not used.
func TestLedgerInvalid(t *testing.T) {
	f := new(fake)
	for _, l := range []retrysql.Ledger{{}, {Insert: "insert"}, {Select: "select"}} {
		assert.ErrorIs(t, retrysql.InTx(t.Context(), atOnce, l.DB(f.open(t)), nil, noEffect), retry.ErrInvalid)
	}
	assert.Empty(t, f.takeCalls())
}

// TestLedgerLost: without a row, there is no answer.
func TestLedgerLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{commit: io.ErrUnexpectedEOF}}}
		noted := false
		f.answer = func(string, []driver.NamedValue) ([]driver.Value, error) {
			if !noted {
				noted = true
				return nil, nil
			}
			return nil, errDuplicate
		}
		db := retrysql.Ledger{Insert: "insert", Select: "select"}.DB(f.open(t))
		err := retrysql.InTx(t.Context(), retry.Policy{Backoff: retry.Constant(time.Hour)}, db, nil, noEffect)
		assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		assert.ErrorContains(t, err, "duplicate")
		assert.ErrorContains(t, err, "Select of the Ledger failed")
	})
}
