//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
	"github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

var update = flag.Bool("update", false, "rewrite the table of docs/sql.md")

// TestTable: the table in docs/sql.md shows what InTx does.
func TestTable(t *testing.T) {
	const page, mark, end = "../../../docs/sql.md", "<!-- errors -->\n", "<!-- end -->\n"
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
	if want != string(text) { // both are too long to print
		t.Errorf("the table in %s is stale: run go test -run TestTable -update", page)
	}
}

func errorsTable(t *testing.T) string {
	var reactions []string        // rows of the table
	errs := map[string][]string{} // by reaction
	pg := func(code string) error { return &pgconn.PgError{Severity: "ERROR", Code: code} }
	fatal := func(code string) error { return &pgconn.PgError{Severity: "FATAL", Code: code} }
	my := func(number uint16, state string) error {
		return &mysql.MySQLError{Number: number, SQLState: [5]byte([]byte(state))}
	}
	for _, line := range []struct {
		name              string
		statement, commit error // nil means that the error does not occur in this place
	}{
		{"SQLSTATE 40001, serialization failure", pg("40001"), pg("40001")},
		{"SQLSTATE 40P01, deadlock", pg("40P01"), pg("40P01")},
		{"SQLSTATE 55P03, lock not available", pg("55P03"), nil},
		{"SQLSTATE 53300, too many connections", pg("53300"), nil},
		{"SQLSTATE 23505, unique violation", pg("23505"), pg("23505")},
		{"SQLSTATE 40003, statement completion unknown", nil, pg("40003")},
		{"SQLSTATE 57014, canceled", pg("57014"), pg("57014")},
		{"SQLSTATE 57P01, shutdown", pg("57P01"), pg("57P01")},
		{"SQLSTATE 08006, connection failure", pg("08006"), pg("08006")},
		{"SQLSTATE 25006, read-only server", pg("25006"), pg("25006")},
		{"SQLSTATE 25P03, transaction idle for too long", fatal("25P03"), fatal("25P03")},
		{"SQLSTATE 25P04, transaction too long", fatal("25P04"), fatal("25P04")},
		{"SQLSTATE 57P05, session idle for too long", fatal("57P05"), fatal("57P05")},
		{"SQLSTATE 0A000, because a table has changed", &pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, nil},
		{"MySQL 1213, deadlock", my(1213, "40001"), my(1213, "40001")},
		{"MySQL 1205, lock wait timeout", my(1205, "HY000"), my(1205, "HY000")},
		{"MySQL 1020, record has changed", my(1020, "HY000"), my(1020, "HY000")},
		{"MySQL 1040, too many connections", my(1040, "08004"), nil},
		{"MySQL 1062, duplicate entry", my(1062, "23000"), nil},
		{"MySQL 1180, error during COMMIT", nil, my(1180, "HY000")},
		{"MySQL 1792, 1290, 1836, read-only server", my(1792, "25006"), my(1290, "HY000")},
		{"MySQL 4031, session idle for too long", my(4031, "HY000"), my(4031, "HY000")},
		{"MySQL 1158, statement not received", my(1158, "08S01"), my(1158, "08S01")},
		{"MySQL 1615, because a table has changed", my(1615, "HY000"), nil},
		{"MySQL 1053, shutdown", my(1053, "08S01"), my(1053, "08S01")},
		{"SQLite 5, busy", sqlite3.Error{Code: sqlite3.ErrBusy}, sqlite3.Error{Code: sqlite3.ErrBusy}},
		{"SQLite 6, locked", sqlite3.Error{Code: sqlite3.ErrLocked}, sqlite3.Error{Code: sqlite3.ErrLocked}},
		{"SQLite 19, constraint", sqlite3.Error{Code: sqlite3.ErrConstraint}, sqlite3.Error{Code: sqlite3.ErrConstraint}},
		{"SQLite 10, disk I/O", nil, sqlite3.Error{Code: sqlite3.ErrIoErr}},
		{"connection lost", io.ErrUnexpectedEOF, io.ErrUnexpectedEOF},
		{"connection lost, `driver.ErrBadConn`", driver.ErrBadConn, driver.ErrBadConn},
		{"connection lost, `mysql.ErrInvalidConn`", mysql.ErrInvalidConn, mysql.ErrInvalidConn},
		{"`pgx.ErrTxCommitRollback`", nil, pgx.ErrTxCommitRollback},
		{"`pq.ErrInFailedTransaction`", nil, pq.ErrInFailedTransaction},
		{"`sql.ErrNoRows`", sql.ErrNoRows, nil},
	} {
		both := reaction(t, line.statement, nil) + " | " + reaction(t, nil, line.commit)
		if errs[both] == nil {
			reactions = append(reactions, both)
		}
		errs[both] = append(errs[both], line.name)
	}
	var table strings.Builder
	table.WriteString("| of a statement | of COMMIT | errors |\n|---|---|---|\n")
	for _, both := range reactions {
		table.WriteString("| " + both + " | " + strings.Join(errs[both], "; ") + " |\n")
	}
	return table.String()
}

type scripted struct{ commit error }

func (s scripted) Commit(context.Context) error { return s.commit }
func (scripted) Rollback(context.Context) error { return nil }

// reaction describes what InTxFunc does after the error of a statement or of COMMIT. The
// other argument must be nil.
func reaction(t *testing.T, statement, commit error) string {
	if statement == nil && commit == nil {
		return ""
	}
	policy, result := retry.Policy{Backoff: retry.NoDelay{}}, "returned"
	policy.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		return ctx, func(ended retry.Attempt) {
			switch {
			case ended.Unrepeatable:
				result = "**unknown**, not retried"
			case ended.Class == retry.ClassThrottled:
				result = "retried, as throttling"
			case ended.Err != nil && ended.Class != retry.ClassPermanent:
				result = "retried"
			}
		}
	}
	begin := func(context.Context) (tx scripted, _ error) {
		tx.commit, commit = commit, nil
		return tx, nil
	}
	err := retrysql.InTxFunc(t.Context(), policy, begin, func(context.Context, scripted) (err error) {
		err, statement = statement, nil
		return err
	})
	assert.Equal(t, strings.HasPrefix(result, "retried"), err == nil, "%s: %v", result, err)
	return result
}
