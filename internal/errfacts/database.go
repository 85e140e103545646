package errfacts

import (
	"reflect"
	"strings"
)

// A Reply is what is known about the error response of a database: what it means for a
// statement, for a COMMIT and for the connection.
type Reply struct {
	class        Class // of a statement that fails with it
	unrepeatable bool  // the statement may have taken effect
	Refused      bool  // a COMMIT that fails with it had no effect
	ReadOnly     bool  // this server accepts no writes, but another one may
	Leaves       bool  // this server is going away: its other connections will be lost, too
}

// ReplyOf returns what is known about err, ignoring wrapped errors, and reports whether
// it is the error response of a database.
func ReplyOf(err error) (r Reply, ok bool) {
	info := infoOf(err)
	if info.asks&asksDatabase != 0 {
		var a answers
		a.askMethods(info, err)
		if a.hasState {
			r = replyOfSQLState(a.state, a.routine)
			r.Refused = r.Refused && !endsConnection(reflect.ValueOf(err)) || a.state == idleInTransaction
			return r, true
		}
	}
	var s said
	s.gather(info, err, reflect.ValueOf(err))
	switch {
	case info.origin == mysqlError:
		r = replyOf(mysqlError, s.number)
		r.Refused = r.Refused || refusedByMySQL(s.number, s.state)
		return r, true
	case info.origin == sqlServerError:
		return replyOf(sqlServerError, s.number), true
	case info.origin == sqliteError:
		code := primary(s.number)
		return replyOf(sqliteError, code), code != 0
	}
	return Reply{}, false
}

// notSupported is feature_not_supported.
const notSupported = "0A000"

// idleInTransaction is idle_in_transaction_session_timeout. PostgreSQL sends it, and closes
// the connection, while it waits for a statement: it has not seen a COMMIT that fails with it.
const idleInTransaction = "25P03"

// MySQLNumber returns the number of an error response of MySQL or MariaDB, or 0.
func MySQLNumber(err error) int64 {
	if infoOf(err).origin != mysqlError {
		return 0
	}
	return number(reflect.ValueOf(err), "Number")
}

// replyOfState returns what is known about a SQLSTATE.
//
// The source is "PostgreSQL Error Codes", appendix A of the PostgreSQL manual, which
// also applies to CockroachDB, whose own codes are in pkg/sql/pgwire/pgcode/codes.go.
// After a serialization failure or a deadlock, the whole transaction must run again.
// Poolers report a lost server with classes 08, 58 and XX, and CockroachDB reports with
// XXA00 that the transaction was committed but a schema change failed.
func replyOfState(state string) Reply {
	switch state {
	case "40001", "40P01", // serialization_failure, deadlock_detected
		idleInTransaction, "25P04", // transaction_timeout
		"55006", "55P03": // object_in_use, lock_not_available
		return Reply{class: Transient, Refused: true}
	case "40003", "08007": // statement_completion_unknown, transaction_resolution_unknown
		return Reply{class: Transient, unrepeatable: true}
	case "25006": // read_only_sql_transaction
		return Reply{class: Transient, Refused: true, ReadOnly: true}
	case "57014": // query_canceled
		return Reply{class: Canceled}
	case "57P01", "57P02", "57P03": // admin_shutdown, crash_shutdown, cannot_connect_now
		return Reply{class: Transient, Leaves: true}
	case "57P04": // database_dropped
		return Reply{class: Permanent}
	case "58C00", "58C01": // of CockroachDB: RangeUnavailable, InternalConnectionFailure between its nodes
		return Reply{class: Transient}
	}
	if strings.HasPrefix(state, "57P") || strings.HasPrefix(state, "580") { // idle_session_timeout; system_error, io_error
		return Reply{class: Transient}
	}
	switch state[:2] {
	case "08": // connection exceptions
		return Reply{class: Transient}
	case "53": // insufficient resources
		return Reply{class: Throttled, Refused: true}
	case "57", "58", "XX", // other operator intervention, other system errors, internal errors
		"00", "01", "02": // success and warnings are no refusal
		return Reply{class: Permanent}
	}
	return Reply{class: Permanent, Refused: true}
}

// replyOfSQLState returns what is known about a SQLSTATE, and the routine of PostgreSQL that
// reports it.
func replyOfSQLState(state, routine string) Reply {
	if len(state) != 5 {
		return Reply{}
	}
	if state == notSupported {
		// As in pgJDBC, the routine decides, because the message is translated.
		switch routine {
		case "RevalidateCachedQuery": // a table has changed; the driver prepares the statement again
			return Reply{class: Transient, Refused: true}
		case "call_bool_check_hook": // lib/pq's BEGIN READ WRITE on a replica
			return Reply{class: Transient, Refused: true, ReadOnly: true}
		}
	}
	return replyOfState(state)
}

// refusedByMySQL reports whether MySQL or MariaDB refused the COMMIT. The outcome is
// unknown after a SQLSTATE of class 08 (connection) or 70 (killed), the numbers below, and
// numbers outside the servers' own ranges, which proxies send: ProxySQL uses 2013 for a
// lost server.
func refusedByMySQL(number int64, state string) bool {
	if len(state) != 5 {
		return false
	}
	switch number {
	case 1105, // unknown error, which Vitess uses for a lost server
		1180,       // error during COMMIT, possibly in the second of two engines
		1297,       // temporary error of an engine, such as a lost node of an NDB cluster
		3032, 3168, // the server leaves
		3100: // group replication failed: the group may have got the transaction
		return false
	}
	switch state[:2] {
	case "08", "70":
		return false
	}
	return number >= 1000 && number < 2000 || number >= 3000 && number < 5000
}

// primary returns the primary result code of SQLite.
func primary(code int64) int64 { return code & 0xff }

// ofRedis returns the class of an error reply, by its first word, as go-redis 9.23 retries
// it. Of go-redis's own errors, only TxFailedErr is retryable: a watched key changed.
func ofRedis(reply string) Class {
	word, _, _ := strings.Cut(reply, " ")
	switch word {
	case "BUSY", "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS", "MOVED", "ASK":
		return Transient
	}
	switch reply {
	case "redis: transaction failed":
		return Transient
	case "ERR max number of clients reached":
		return Throttled
	}
	return Permanent
}
