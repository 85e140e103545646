package retrysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"iter"
	"net"
	"reflect"
	"strings"
)

type outcome int

const (
	outcomeUnknown    outcome = iota
	outcomeRefused            // by the database: no effect
	outcomeRolledBack         // a statement had failed before: no effect
)

// outcomeOf returns the outcome of a COMMIT that failed with err. Only a response of
// the database proves that there was no effect: see the package comment.
func outcomeOf(err error) outcome {
	if has(err, "commit unexpectedly resulted in rollback") || // ErrTxCommitRollback of pgx
		has(err, "pq: could not complete operation in a failed transaction") { // ErrInFailedTransaction of lib/pq
		return outcomeRolledBack
	}
	refused := false
	for e := range tree(err) {
		refusal, ok := response(e)
		if ok && !refusal || !ok && isLoss(e) {
			return outcomeUnknown
		}
		refused = refused || refusal
	}
	if refused {
		return outcomeRefused
	}
	return outcomeUnknown
}

// response reports whether err is an error response of a database, and if so,
// whether it proves that the transaction had no effect.
func response(err error) (refusal, ok bool) {
	if e, ok := err.(interface{ SQLState() string }); ok {
		return refusedByState(stateOf(e)) && !endsConnection(err), true
	}
	if number, state, ok := mysqlError(err); ok {
		return refusedByMySQL(number, state), true
	}
	if code, ok := sqliteCode(err); ok {
		return code == sqliteBusy || code == sqliteLocked || code == sqliteConstraint, true
	}
	return false, false
}

// stateOf returns err.SQLState(), or "" if the method panics, as it does on a nil pointer.
func stateOf(err interface{ SQLState() string }) (state string) {
	defer func() { _ = recover() }()
	return err.SQLState()
}

// refusedByState reports whether PostgreSQL, or a database compatible with it, refused
// the COMMIT ("PostgreSQL Error Codes", appendix A of the manual). The outcome is
// unknown after 40003 (statement completion unknown) and the classes 08 (connection),
// 57 (operator intervention, such as a shutdown), and 58 and XX (system and internal
// errors). Poolers use 58 and XX for a lost server, and CockroachDB's XXA00 means that
// the transaction was committed but a schema change failed.
func refusedByState(state string) bool {
	if len(state) != 5 || state == "40003" {
		return false
	}
	switch state[:2] {
	case "00", "01", "02", "08", "57", "58", "XX":
		return false
	}
	return true
}

// endsConnection reports whether the server closes the connection after this error
// response: the server may have failed after it wrote the commit record. The errors of
// pgx and lib/pq have a field for the severity.
func endsConnection(err error) bool {
	severity := field(err, "SeverityUnlocalized")
	if !severity.IsValid() {
		severity = field(err, "Severity")
	}
	return severity.IsValid() && (severity.String() == "FATAL" || severity.String() == "PANIC")
}

// refusedByMySQL reports whether MySQL or MariaDB refused the COMMIT. The outcome is
// unknown after a SQLSTATE of class 08 (connection) or 70 (killed), 1180 (error during
// COMMIT, possibly in the second of two engines), 1105 (unknown error, which Vitess
// uses for a lost server), and numbers outside the servers' own ranges, which proxies
// send: ProxySQL uses 2013 for a lost server.
func refusedByMySQL(number uint64, state string) bool {
	switch {
	case number == 1105, number == 1180:
		return false
	case strings.HasPrefix(state, "08"), strings.HasPrefix(state, "70"):
		return false
	}
	return number >= 1000 && number < 2000 || number >= 3000 && number < 5000
}

func isLoss(err error) bool {
	switch err {
	case driver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded:
		return true
	}
	_, ok := err.(net.Error)
	return ok
}

// mysqlError reads the fields of a MySQLError of github.com/go-sql-driver/mysql,
// which has no methods for them.
func mysqlError(err error) (number uint64, state string, ok bool) {
	n, s := field(err, "Number"), field(err, "SQLState")
	if !n.IsValid() || n.Kind() != reflect.Uint16 || !s.IsValid() || s.Type() != reflect.TypeFor[[5]byte]() {
		return 0, "", false
	}
	bytes := s.Interface().([5]byte)
	return n.Uint(), string(bytes[:]), true
}

// Primary result codes of SQLite (sqlite.org/rescode.html).
const (
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteConstraint = 19
)

// sqliteCode reads the primary result code from the errors of modernc.org/sqlite,
// github.com/mattn/go-sqlite3 and github.com/ncruces/go-sqlite3. All three are structs
// with a field for the code, but they have no method for it in common.
func sqliteCode(err error) (code uint64, ok bool) {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !strings.Contains(t.PkgPath(), "sqlite") {
		return 0, false
	}
	c := field(err, "Code")
	if !c.IsValid() {
		c = field(err, "code")
	}
	switch {
	case c.CanInt():
		code = uint64(c.Int())
	case c.CanUint():
		code = c.Uint()
	default:
		return 0, false
	}
	return code & 0xff, true
}

// field returns a field of the struct that err is or points to, or the zero Value.
func field(err error, name string) reflect.Value {
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}

// has reports whether err is or wraps an error created by errors.New with this text.
func has(err error, text string) bool {
	for e := range tree(err) {
		if reflect.TypeOf(e) == plainError && e.Error() == text {
			return true
		}
	}
	return false
}

var plainError = reflect.TypeOf(errors.New(""))

func tree(err error) iter.Seq[error] {
	return func(yield func(error) bool) { walk(err, yield) }
}

func walk(err error, yield func(error) bool) bool {
	if err == nil {
		return true
	}
	if !yield(err) {
		return false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if !walk(inner, yield) {
				return false
			}
		}
	}
	return true
}
