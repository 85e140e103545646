package errfacts

import "slices"

// replies lists the numbers of errors that are not permanent, by the kind of their type.
// Lists make smaller binaries than a switch. Numbers that are not listed are permanent,
// except 0, which is none.
var replies = [...]struct {
	origin
	Reply
	numbers []uint16
}{
	// Status codes of gRPC, Connect and etcd: CANCELLED, DEADLINE_EXCEEDED,
	// RESOURCE_EXHAUSTED; ABORTED, INTERNAL, UNAVAILABLE. UNKNOWN has no class.
	{rpcError, Reply{class: Canceled}, []uint16{1}},
	{rpcError, Reply{}, []uint16{2}},
	{rpcError, Reply{class: TimedOut}, []uint16{4}},
	{rpcError, Reply{class: Throttled}, []uint16{8}},
	{rpcError, Reply{class: Transient}, []uint16{10, 13, 14}},

	// MySQL, MariaDB, TiDB and ProxySQL. At COMMIT, refusedByMySQL
	// decides about the servers' own numbers.
	{mysqlError, Reply{class: Transient}, []uint16{
		1213, 1205, 3572, 3058, 3132, 1613, 1614, // deadlock; lock not granted in time, or not at once; the same of a lock by name, and of XA
		1412, 1615, // the table was changed since the transaction began or the statement was prepared
		1020, 3101, // conflict with another transaction: MariaDB's snapshots, group replication
		1047,                   // Galera: the node is not ready
		1053, 1927, 2006, 4031, // shutdown; connection killed, lost before the statement was sent, idle for too long
		1158, 1159, // the server did not receive the statement
		9001, 9002, 9004, 9005, // ProxySQL: no server in time; TiDB: no region
	}},
	{mysqlError, Reply{class: Transient, Refused: true}, []uint16{8022, 8028, 9007}}, // TiDB: conflict, schema changed
	{mysqlError, Reply{}, []uint16{1105}},                                            // unknown error
	{mysqlError, Reply{class: Transient, ReadOnly: true}, []uint16{1290, 1792, 1836}},
	{mysqlError, Reply{class: Transient, unrepeatable: true}, []uint16{1160, 1161, 2013}}, // connection lost during the statement, as reported by the server or a proxy
	{mysqlError, Reply{class: TimedOut}, []uint16{1969, 3024}},                            // the statement ran for too long
	{mysqlError, Reply{class: Throttled}, []uint16{1040, 1203, 1226, 1637, 9003}},         // too many connections or transactions, quota, TiKV is busy
	{mysqlError, Reply{class: Canceled}, []uint16{1317}},                                  // query interrupted

	// SQL Server: "List of transient fault error codes" in the documentation of Azure SQL
	// Database, and SqlServerTransientExceptionDetector of Entity Framework Core 10.
	{sqlServerError, Reply{class: Transient}, []uint16{
		1203, 1205, 1221, 1222, 3935, 3960, 3966, // deadlock, lock not granted in time, snapshot conflict
		41301, 41302, 41305, 41325, 41839, // conflicts of memory-optimized tables
		601, 615, 617, 669, 921, 926, 997, 1807, 4060, 4221, 9515, 14355, 17197, 20041,
		40143, 40197, 40540, 40613, 42108, 42109, 49977, 49983,
		6005, // shutdown
	}},
	{sqlServerError, Reply{class: Throttled}, []uint16{
		10922, 10928, 10929, 10936, 40501, 49918, 49919, 49920, // limits of Azure
		1204, 8628, 8645, 8651, // out of locks, memory or time for compilation
	}},

	// SQLite (sqlite.org/rescode.html): BUSY, LOCKED; INTERRUPT; PROTOCOL (a race for a
	// lock of the write-ahead log), SCHEMA; CONSTRAINT.
	{sqliteError, Reply{class: Transient, Refused: true}, []uint16{5, 6}},
	{sqliteError, Reply{class: Canceled}, []uint16{9}},
	{sqliteError, Reply{class: Transient}, []uint16{15, 17}},
	{sqliteError, Reply{class: Permanent, Refused: true}, []uint16{19}},

	// MongoDB: the retryable codes in the specifications of retryable reads and writes,
	// and WriteConflict; MaxTimeMSExpired, ExceededTimeLimit.
	{mongoError, Reply{class: Transient}, []uint16{6, 7, 89, 91, 112, 134, 189, 9001, 10107, 11600, 11602, 13435, 13436}},
	{mongoError, Reply{class: TimedOut}, []uint16{50, 262}},

	// Oracle: OracleError.Bad of go-ora 2.8 and "Oracle Database Error Messages".
	{oracleError, Reply{class: Transient}, []uint16{
		60, 8177, 54, 30006, 1555, 4021, 4068, // deadlock, serialization, lock not granted, snapshot too old, package changed
		1033, 1034, 1089, 1090, 1092, 12514, 12528, 12537, 12541, 12545, 12170, // startup, shutdown, no listener
		28, 1012, // session killed, not logged on
	}},
	{oracleError, Reply{class: Transient, unrepeatable: true}, []uint16{3113, 3114, 3135, 25408}}, // connection lost during the call
	{oracleError, Reply{class: Throttled}, []uint16{18, 20, 12516, 12519, 12520}},                 // too many sessions or processes
	{oracleError, Reply{class: Canceled}, []uint16{1013}},

	// ClickHouse: src/Common/ErrorCodes.cpp. Memory, quota, queries and parts are
	// limits; 319 is the unknown status of an insert.
	{clickhouseError, Reply{class: Transient}, []uint16{203, 209, 210, 225, 236, 242, 243, 254, 279, 285, 286, 290, 369, 425, 439, 999, 1000}},
	{clickhouseError, Reply{class: TimedOut}, []uint16{159, 160}},
	{clickhouseError, Reply{class: Throttled}, []uint16{173, 201, 202, 241, 252}},
	{clickhouseError, Reply{class: Transient, unrepeatable: true}, []uint16{319}},
	{clickhouseError, Reply{class: Canceled}, []uint16{394}},

	// Cassandra: section 9 of the native protocol, version 5. A write that timed out or
	// failed on a replica may have taken effect on others.
	{cassandraError, Reply{class: Transient}, []uint16{0x1000, 0x1002, 0x1003, 0x1300, 0x2500}}, // unavailable, bootstrapping, truncation, failed read, unprepared
	{cassandraError, Reply{class: TimedOut}, []uint16{0x1200}},
	{cassandraError, Reply{class: Throttled}, []uint16{0x1001}},
	{cassandraError, Reply{class: TimedOut, unrepeatable: true}, []uint16{0x1100, 0x1700}},
	{cassandraError, Reply{class: Transient, unrepeatable: true}, []uint16{0x1500, 0x1600}},

	// LDAP (RFC 4511, appendix A, and go-ldap's own numbers): busy, unavailable, other,
	// server down, connect error, network; time limit.
	{ldapError, Reply{class: Transient}, []uint16{51, 52, 80, 81, 91, 200}},
	{ldapError, Reply{class: TimedOut}, []uint16{3, 85}},

	// Kafka: the retriable codes of the protocol guide, as in franz-go 1.22, and
	// REBALANCE_IN_PROGRESS.
	{kafkaError, Reply{class: Transient}, []uint16{
		2, 3, 5, 6, 8, 9, 13, 14, 15, 16, 19, 20, 27, 41, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84, 88, 100, 103, 106, 133,
	}},
	{kafkaError, Reply{class: TimedOut}, []uint16{7}},
	{kafkaError, Reply{class: Throttled}, []uint16{89}},

	// AMQP 0-9-1: CONNECTION_FORCED, RESOURCE_LOCKED, FRAME_ERROR, CHANNEL_ERROR (also
	// amqp091-go's ErrClosed), UNEXPECTED_FRAME, INTERNAL_ERROR; RESOURCE_ERROR.
	{amqpError, Reply{class: Transient}, []uint16{320, 405, 501, 504, 505, 541}},
	{amqpError, Reply{class: Throttled}, []uint16{506}},

	// WebSocket (RFC 6455, section 7.4, and its registry): closed, going away, no status,
	// abnormal, internal error, restart, bad gateway; try again later.
	{webSocketError, Reply{class: Transient}, []uint16{1000, 1001, 1005, 1006, 1011, 1012, 1014}},
	{webSocketError, Reply{class: Throttled}, []uint16{1013}},

	// SFTP: end of file, failure, no connection, connection lost.
	{sftpError, Reply{class: Transient}, []uint16{1, 4, 6, 7}},

	// Thrift: bad sequence, missing result, internal and protocol error of an application.
	{thriftError, Reply{class: Transient}, []uint16{4, 5, 6, 7}},
}

// replyOf returns what is known about a number of errors of kind o.
func replyOf(o origin, number int64) Reply {
	if number == 0 {
		return Reply{}
	}
	if o == mailError && number >= 400 && number < 500 {
		// SMTP (RFC 5321, section 4.2.1), FTP and NNTP: the first digit decides.
		return Reply{class: Transient}
	}
	for i := range replies {
		r := &replies[i]
		if r.origin == o && number == int64(uint16(number)) && slices.Contains(r.numbers, uint16(number)) {
			return r.Reply
		}
	}
	return Reply{class: Permanent}
}
