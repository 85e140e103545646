package errfacts

import (
	"slices"
	"strings"
)

// Class is what an error means for retrying, with the values of retry.Class.
type Class uint8

const (
	Unknown Class = iota
	Permanent
	Transient
	TimedOut
	Throttled
)

// canceled is not a class of package retry. It means that the caller canceled the
// operation, so the server's response does not count.
const canceled Class = 255

// Classify returns the class of err according to retry.DefaultClassifier's rules, and
// whether the operation may have taken effect although it failed.
func Classify(err error) (c Class, unrepeatable bool) {
	f := Facts{Err: err}
	f.read(err)
	if !f.Methods && !f.Canceled && f.Class == Unknown {
		c = f.local()
		return c, f.Unrepeatable && c != Permanent
	}
	c = f.class()
	unrepeatable = f.Unrepeatable || f.SQLState == "40003" || f.SQLState == "08007"
	return c, unrepeatable && c != Unknown && c != Permanent
}

func (f *Facts) class() Class {
	switch {
	case f.Overtime && !f.IsResponse():
		return TimedOut
	case f.Canceled || f.Verdict == No:
		return Permanent
	case f.Status == 429 || f.Class == Throttled || IsThrottlingCode(f.Code):
		return Throttled
	case f.Verdict == Yes:
		return Transient
	case f.Code == "RequestTimeout" || f.Code == "RequestTimeoutException":
		return TimedOut
	case f.Status >= 400:
		return ofStatus(int64(f.Status))
	case f.SQLState != "":
		return ofSQLState(f.SQLState)
	case f.Redis != "":
		return ofRedis(f.Redis)
	case f.Class != Unknown:
		return f.Class
	}
	return f.local()
}

// local returns the class of an error that is not a server's response.
func (f *Facts) local() Class {
	switch f.Kind {
	case Timeout:
		return TimedOut
	case TLS:
		return Permanent
	case Connection, Closed, Truncated, NotFound:
		return Transient
	}
	return f.Fallback
}

func ofStatus(status int64) Class {
	switch {
	case status < 400 || status > 599:
		return Unknown
	case status == 408:
		return TimedOut
	case status == 429:
		return Throttled
	case status == 425, status >= 500 && status != 501 && status != 505:
		return Transient
	}
	return Permanent
}

// ofSQLState returns the class of a SQLSTATE according to "PostgreSQL Error Codes",
// appendix A of the PostgreSQL manual, which also applies to CockroachDB. 40001 and
// 40P01 mean that the whole transaction must run again, not the statement alone.
func ofSQLState(state string) Class {
	switch state {
	case "40001", "40P01", "55P03", "55006", "57P01", "57P02", "57P03",
		"58000", "58030", "08000", "08001", "08003", "08004", "08006",
		"40003", "08007": // the last two with an unknown outcome
		return Transient
	}
	if strings.HasPrefix(state, "53") {
		return Throttled
	}
	return Permanent
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

// ofRPC returns the class of a status code of gRPC or Connect. ABORTED is a conflict;
// UNKNOWN has no class.
func ofRPC(code int64) Class {
	switch code {
	case 1: // CANCELLED
		return canceled
	case 3, 5, 6, 7, 9, 11, 12, 15, 16:
		return Permanent
	case 4: // DEADLINE_EXCEEDED
		return TimedOut
	case 8: // RESOURCE_EXHAUSTED
		return Throttled
	case 10, 13, 14: // ABORTED, INTERNAL, UNAVAILABLE
		return Transient
	}
	return Unknown
}

// MySQL and MariaDB errors that are not permanent. Lists make smaller binaries than a
// switch.
var (
	mysqlTransient = []uint16{
		1213, 1205, 3572, // deadlock; lock not granted in time, or not at once
		1412,       // the table was changed since the transaction began
		1290, 1836, // read only, as after a failover
		1020, 3101, // conflict with another transaction: MariaDB's snapshots, group replication
		1047,             // Galera: the node is not ready
		1053, 1927, 2006, // shutdown; connection killed; connection lost before the statement was sent
		2013, // connection lost during the statement, as reported by a proxy
	}
	mysqlThrottled = []uint16{1040, 1203, 1226, 1637} // too many connections or transactions, quota
)

// ofMySQL also reports whether the statement may have taken effect.
func ofMySQL(number int64) (c Class, unrepeatable bool) {
	switch {
	case isOneOf(mysqlTransient, number):
		return Transient, number == 2013
	case isOneOf(mysqlThrottled, number):
		return Throttled, false
	case number == 1317: // query interrupted
		return canceled, false
	}
	return Permanent, false
}

// SQL Server errors that are not permanent. 615, 926, 4060, 4221 and the numbers from
// 40000 on, except those of memory-optimized tables, are from "List of transient fault
// error codes" in the documentation of Azure SQL Database.
var (
	sqlServerTransient = []uint16{
		1205, 1222, 3960, // deadlock, lock not granted in time, snapshot conflict
		41301, 41302, 41305, 41325, // conflicts of memory-optimized tables
		615, 926, 4060, 4221, 40143, 40197, 40540, 40613, 42108, 42109,
		6005, // shutdown
	}
	sqlServerThrottled = []uint16{
		10928, 10929, 10936, 40501, 49918, 49919, 49920, // limits of Azure
		1204, 8645, 8651, // out of locks or memory
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

// ofSQLite returns the class of a result code, primary or extended.
func ofSQLite(code int64) Class {
	switch code & 0xff {
	case 0:
		return Unknown
	case 5, 6: // BUSY, LOCKED
		return Transient
	case 9: // INTERRUPT
		return canceled
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
