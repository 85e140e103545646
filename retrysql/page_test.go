package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/retrysql/internal/sqlitefake"
)

var update = flag.Bool("update", false, "write the table of docs/sql.md anew")

// TestPage: the table of the documentation is what InTx does.
func TestPage(t *testing.T) {
	const page, mark, end = "../docs/sql.md", "<!-- errors -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), mark)
	require.True(t, found)
	_, after, found := strings.Cut(rest, end)
	require.True(t, found)
	want := before + mark + errorsTable(t) + end + after
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	if want != string(text) { // both are too long to be shown
		t.Errorf("the table of %s is stale: go test ./retrysql -run TestPage -update", page)
	}
}

func errorsTable(t *testing.T) string {
	var table strings.Builder
	table.WriteString("| error | of a statement | of COMMIT |\n|---|---|---|\n")
	for _, line := range []struct {
		name              string
		statement, commit error // nil: does not occur
	}{
		{"SQLSTATE 40001, serialization failure", sqlState("40001"), sqlState("40001")},
		{"SQLSTATE 40P01, deadlock", sqlState("40P01"), sqlState("40P01")},
		{"SQLSTATE 55P03, lock not available", sqlState("55P03"), sqlState("55P03")},
		{"SQLSTATE 53300, too many connections", sqlState("53300"), nil},
		{"SQLSTATE 23505, unique violation", sqlState("23505"), sqlState("23505")},
		{"SQLSTATE 40003, statement completion unknown", sqlState("40003"), sqlState("40003")},
		{"SQLSTATE 57014, canceled", sqlState("57014"), sqlState("57014")},
		{"SQLSTATE 57P01, shutdown", sqlState("57P01"), sqlState("57P01")},
		{"SQLSTATE 08006, connection failure", sqlState("08006"), sqlState("08006")},
		{"MySQL 1213, deadlock", mysqlError(1213, "40001"), mysqlError(1213, "40001")},
		{"MySQL 1205, lock wait timeout", mysqlError(1205, "HY000"), mysqlError(1205, "HY000")},
		{"MySQL 1020, record has changed", mysqlError(1020, "HY000"), mysqlError(1020, "HY000")},
		{"MySQL 1040, too many connections", mysqlError(1040, "08004"), nil},
		{"MySQL 1062, duplicate entry", mysqlError(1062, "23000"), mysqlError(1062, "23000")},
		{"MySQL 1180, error during COMMIT", mysqlError(1180, "HY000"), mysqlError(1180, "HY000")},
		{"MySQL 1053, shutdown", mysqlError(1053, "08S01"), mysqlError(1053, "08S01")},
		{"SQLite 5, busy", sqlitefake.Mattn(5), sqlitefake.Mattn(5)},
		{"SQLite 6, locked", sqlitefake.Mattn(6), sqlitefake.Mattn(6)},
		{"SQLite 19, constraint", sqlitefake.Mattn(19), sqlitefake.Mattn(19)},
		{"SQLite 10, disk I/O", sqlitefake.Mattn(10), sqlitefake.Mattn(10)},
		{"connection lost", io.ErrUnexpectedEOF, io.ErrUnexpectedEOF},
		{"connection lost, `SafeToRetry() == true` of pgx", safe{}, safe{}},
		{"connection lost, `driver.ErrBadConn`", driver.ErrBadConn, driver.ErrBadConn},
		{"`pgx.ErrTxCommitRollback`", nil, errors.New("commit unexpectedly resulted in rollback")},
		{"`sql.ErrNoRows`", sql.ErrNoRows, nil},
	} {
		table.WriteString("| " + line.name + " | " + reaction(t, script{fn: line.statement}) + " | " + reaction(t, script{commit: line.commit}) + " |\n")
	}
	return table.String()
}

// reaction is what InTxFunc does after an attempt that fails once.
func reaction(t *testing.T, s script) string {
	if s == (script{}) {
		return ""
	}
	f := &fake{scripts: []script{s}}
	policy, word := atOnce, "returned"
	policy.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
		return ctx, func(ended retry.Attempt) {
			switch {
			case ended.Unrepeatable:
				word = "**unknown**, not repeated"
			case ended.Class == retry.ClassThrottled:
				word = "repeated, as throttling"
			case ended.Err != nil && ended.Class != retry.ClassPermanent:
				word = "repeated"
			}
		}
	}
	err := retrysql.InTxFunc(t.Context(), policy, f.begin, f.fn)
	assert.Equal(t, strings.HasPrefix(word, "repeated"), err == nil, "%s: %v", word, err)
	return word
}
