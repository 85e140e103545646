package errfacts

import (
	"reflect"
	"slices"
	"strings"
)

// A Reply is what is known about the error response of a database: what it means for a
// statement, for a COMMIT and for the connection.
type Reply struct {
	class        Class // of a statement that fails with it
	unrepeatable bool  // the statement may have taken effect
	Refused      bool  // a COMMIT that fails with it had no effect
	ReadOnly     bool  // this server accepts no writes, but another one may
}

// ReplyOf returns what is known about err, ignoring wrapped errors, and reports whether
// it is the error response of a database.
func ReplyOf(err error) (r Reply, ok bool) {
	v := reflect.ValueOf(err)
	if e, ok := err.(sqlStater); ok {
		r = replyOfSQLState(e)
		r.Refused = r.Refused && !endsConnection(v)
		return r, true
	}
	switch originOf(err) {
	case mysqlError:
		r = replyOfMySQL(v)
		r.Refused = refusedByMySQL(number(v, "Number"), field(v, "SQLState"))
		return r, true
	case sqliteError:
		code := sqliteCode(v)
		return replyOfSQLite(code), code != 0
	}
	return Reply{}, false
}

// sqlStates is keyed by a SQLSTATE or its first two characters, the class. The first
// match counts.
//
// The source is "PostgreSQL Error Codes", appendix A of the PostgreSQL manual, which
// also applies to CockroachDB. After a serialization failure or a deadlock, the whole
// transaction must run again. Poolers report a lost server with classes 08, 58 and XX,
// and CockroachDB reports with XXA00 that the transaction was committed but a schema
// change failed.
var sqlStates = [...]struct {
	key string
	Reply
}{
	{"40001", Reply{class: Transient, Refused: true}},                 // serialization_failure
	{"40P01", Reply{class: Transient, Refused: true}},                 // deadlock_detected
	{"40003", Reply{class: Transient, unrepeatable: true}},            // statement_completion_unknown
	{"08007", Reply{class: Transient, unrepeatable: true}},            // transaction_resolution_unknown
	{"08", Reply{class: Transient}},                                   // connection exceptions
	{"25P03", Reply{class: Transient, Refused: true}},                 // idle_in_transaction_session_timeout
	{"25P04", Reply{class: Transient, Refused: true}},                 // transaction_timeout
	{"25006", Reply{class: Transient, Refused: true, ReadOnly: true}}, // read_only_sql_transaction
	{"53", Reply{class: Throttled, Refused: true}},                    // insufficient resources
	{"55006", Reply{class: Transient, Refused: true}},                 // object_in_use
	{"55P03", Reply{class: Transient, Refused: true}},                 // lock_not_available
	{"57014", Reply{class: canceled}},                                 // query_canceled
	{"57P04", Reply{class: Permanent}},                                // database_dropped
	{"57P", Reply{class: Transient}},                                  // shutdown, idle_session_timeout
	{"580", Reply{class: Transient}},                                  // system_error, io_error
	{"57", Reply{class: Permanent}},                                   // other operator intervention
	{"58", Reply{class: Permanent}},                                   // other system errors
	{"XX", Reply{class: Permanent}},                                   // internal errors
	{"00", Reply{class: Permanent}},                                   // success and warnings are no refusal
	{"01", Reply{class: Permanent}},
	{"02", Reply{class: Permanent}},
}

func replyOfSQLState(err sqlStater) Reply {
	state, _ := Guarded(err.SQLState)
	if len(state) != 5 {
		return Reply{}
	}
	if state == "0A000" {
		// As in pgJDBC, the routine decides, because the message is translated.
		switch text(reflect.ValueOf(err), "Routine") {
		case "RevalidateCachedQuery": // a table has changed; the driver prepares the statement again
			return Reply{class: Transient, Refused: true}
		case "call_bool_check_hook": // lib/pq's BEGIN READ WRITE on a replica
			return Reply{class: Transient, Refused: true, ReadOnly: true}
		}
	}
	for _, known := range sqlStates {
		if strings.HasPrefix(state, known.key) {
			return known.Reply
		}
	}
	return Reply{class: Permanent, Refused: true}
}

// endsConnection reports whether the server closes the connection after this response,
// according to the severity in a field of pgx's and lib/pq's errors. The server may have
// failed after it wrote the commit record.
func endsConnection(v reflect.Value) bool {
	severity := text(v, "SeverityUnlocalized")
	if severity == "" {
		severity = text(v, "Severity")
	}
	return severity == "FATAL" || severity == "PANIC"
}

// mysqlErrors are errors of MySQL, MariaDB, TiDB and ProxySQL that are not permanent.
// Lists of numbers make smaller binaries than a switch. At COMMIT, refusedByMySQL decides.
var mysqlErrors = [...]struct {
	numbers []uint16
	Reply
}{
	{[]uint16{
		1213, 1205, 3572, 3058, 3132, 1613, 1614, // deadlock; lock not granted in time, or not at once; the same of a lock by name, and of XA
		1412, 1615, // the table was changed since the transaction began or the statement was prepared
		1020, 3101, // conflict with another transaction: MariaDB's snapshots, group replication
		1047,                   // Galera: the node is not ready
		1053, 1927, 2006, 4031, // shutdown; connection killed, lost before the statement was sent, idle for too long
		1158, 1159, // the server did not receive the statement
		8022, 8028, 9001, 9002, 9004, 9005, 9007, // TiDB: conflict, schema changed, no region; ProxySQL: no server in time
	}, Reply{class: Transient}},
	{[]uint16{1290, 1792, 1836}, Reply{class: Transient, ReadOnly: true}},
	{[]uint16{1160, 1161, 2013}, Reply{class: Transient, unrepeatable: true}}, // connection lost during the statement, as reported by the server or a proxy
	{[]uint16{1969, 3024}, Reply{class: TimedOut}},                            // the statement ran for too long
	{[]uint16{1040, 1203, 1226, 1637, 9003}, Reply{class: Throttled}},         // too many connections or transactions, quota, TiKV is busy
	{[]uint16{1317}, Reply{class: canceled}},                                  // query interrupted
}

func replyOfMySQL(v reflect.Value) Reply {
	number := number(v, "Number")
	for _, known := range mysqlErrors {
		if isOneOf(known.numbers, number) {
			return known.Reply
		}
	}
	return Reply{class: Permanent}
}

// refusedByMySQL reports whether MySQL or MariaDB refused the COMMIT. The outcome is
// unknown after a SQLSTATE of class 08 (connection) or 70 (killed), 1180 (error during
// COMMIT, possibly in the second of two engines), 1105 (unknown error, which Vitess
// uses for a lost server), and numbers outside the servers' own ranges, which proxies
// send: ProxySQL uses 2013 for a lost server.
func refusedByMySQL(number int64, state reflect.Value) bool {
	if number == 1105 || number == 1180 || state.Kind() != reflect.Array || state.Len() != 5 {
		return false
	}
	switch class := [2]uint64{state.Index(0).Uint(), state.Index(1).Uint()}; class {
	case [2]uint64{'0', '8'}, [2]uint64{'7', '0'}:
		return false
	}
	return number >= 1000 && number < 2000 || number >= 3000 && number < 5000
}

// SQL Server errors that are not permanent, from "List of transient fault error codes"
// in the documentation of Azure SQL Database, and from SqlServerTransientExceptionDetector
// of Entity Framework Core 10.
var (
	sqlServerTransient = []uint16{
		1203, 1205, 1221, 1222, 3935, 3960, 3966, // deadlock, lock not granted in time, snapshot conflict
		41301, 41302, 41305, 41325, 41839, // conflicts of memory-optimized tables
		601, 615, 617, 669, 921, 926, 997, 1807, 4060, 4221, 9515, 14355, 17197, 20041,
		40143, 40197, 40540, 40613, 42108, 42109, 49977, 49983,
		6005, // shutdown
	}
	sqlServerThrottled = []uint16{
		10922, 10928, 10929, 10936, 40501, 49918, 49919, 49920, // limits of Azure
		1204, 8628, 8645, 8651, // out of locks, memory or time for compilation
	}
)

func ofSQLServer(number int64) Class {
	switch {
	case isOneOf(sqlServerTransient, number):
		return Transient
	case isOneOf(sqlServerThrottled, number):
		return Throttled
	}
	return Permanent
}

func isOneOf(list []uint16, number int64) bool {
	return number == int64(uint16(number)) && slices.Contains(list, uint16(number))
}

// sqliteCode returns the result code in a field of an error, or the error that is a
// code itself.
func sqliteCode(v reflect.Value) int64 {
	return max(number(v, "Code"), number(v, "code"), number(v, ""))
}

// replyOfSQLite returns what is known about a result code, primary or extended
// (sqlite.org/rescode.html).
func replyOfSQLite(code int64) Reply {
	switch code & 0xff {
	case 0:
		return Reply{class: Unknown}
	case 5, 6: // BUSY, LOCKED
		return Reply{class: Transient, Refused: true}
	case 9: // INTERRUPT
		return Reply{class: canceled}
	case 15, 17: // PROTOCOL (a race for a lock of the write-ahead log), SCHEMA
		return Reply{class: Transient}
	}
	return Reply{class: Permanent, Refused: code&0xff == 19} // CONSTRAINT
}

// ofRedis returns the class of an error reply, by its first word. Of go-redis's own
// errors, only TxFailedErr is retryable: a watched key changed.
func ofRedis(reply string) Class {
	word, _, _ := strings.Cut(reply, " ")
	switch word {
	case "BUSY", "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN":
		return Transient
	}
	if reply == "redis: transaction failed" {
		return Transient
	}
	return Permanent
}

// mongoTransient are the retryable codes in the specifications of retryable reads and
// writes, plus WriteConflict.
var mongoTransient = []uint16{6, 7, 89, 91, 112, 134, 189, 9001, 10107, 11600, 11602, 13435, 13436}

func ofMongo(code int64) Class {
	switch {
	case code == 0:
		return Unknown
	case isOneOf(mongoTransient, code):
		return Transient
	case code == 50, code == 262: // MaxTimeMSExpired, ExceededTimeLimit
		return TimedOut
	}
	return Permanent
}
