package errfacts

// replyOf returns what is known about a number of errors of kind o. A number that its
// protocol does not list is permanent, and 0 is none.
func replyOf(o origin, number int64) Reply {
	if number == 0 {
		return Reply{}
	}
	switch o {
	case rpcError:
		return Reply{class: ofRPC(number)}
	case mysqlError:
		return ofMySQL(number)
	case sqlServerError:
		return ofSQLServer(number)
	case sqliteError:
		return ofSQLite(number)
	case mongoError:
		return Reply{class: ofMongo(number)}
	case oracleError:
		return ofOracle(number)
	case clickhouseError:
		return ofClickHouse(number)
	case cassandraError:
		return ofCassandra(number)
	case ldapError:
		return Reply{class: ofLDAP(number)}
	case kafkaError:
		return Reply{class: ofKafka(number)}
	case amqpError:
		return Reply{class: ofAMQP(number)}
	case mailError:
		return Reply{class: ofMail(number)}
	case webSocketError:
		return Reply{class: ofWebSocket(number)}
	case sftpError:
		return Reply{class: ofSFTP(number)}
	case thriftError:
		return Reply{class: ofThrift(number)}
	case mqttError:
		return Reply{class: ofMQTT(number)}
	case binanceError:
		return ofBinance(number)
	case sshError:
		return Reply{class: ofSSH(number)}
	}
	return Reply{class: Permanent}
}

// ofSSH: reasons for which a channel was not opened (RFC 4254, section 5.1).
func ofSSH(reason int64) Class {
	switch reason {
	case 2: // SSH_OPEN_CONNECT_FAILED
		return Transient
	case 4: // SSH_OPEN_RESOURCE_SHORTAGE
		return Throttled
	}
	return Permanent
}

// ofRPC: status codes of gRPC, Connect and etcd. A code that gRPC does not define has the meaning that
// an application gives it. Some implementations of gRPC convert it to UNKNOWN.
func ofRPC(code int64) Class {
	if code > 16 {
		return Unknown
	}
	switch code {
	case 1: // CANCELLED
		return Canceled
	case 2: // UNKNOWN
		return Unknown
	case 4: // DEADLINE_EXCEEDED
		return TimedOut
	case resourceExhausted:
		return Throttled
	case 10, 13, 14: // ABORTED, INTERNAL, UNAVAILABLE
		return Transient
	}
	return Permanent
}

// ofJSONRPC: the codes of JSON-RPC 2.0, section 5.1, and of Ethereum (EIP-1474). Others are
// an application's own.
func ofJSONRPC(code int64) Class {
	switch code {
	case -32700, -32600, -32601, -32602: // what was sent does not parse, or is not valid
		return Permanent
	case -32603: // internal error
		return Transient
	case -32005: // limit exceeded
		return Throttled
	}
	return Unknown
}

// ofMySQL: "Server Error Message Reference" of MySQL 9, "MariaDB Error Code Reference",
// "Error Codes" of TiDB's documentation, and ProxySQL. At COMMIT, refusedByMySQL decides
// about the servers' own numbers.
func ofMySQL(number int64) Reply {
	switch number {
	case 1213, 1205, 3572, 3058, 3132, 1613, 1614, // deadlock; lock not granted in time, or not at once; the same of a lock by name, and of XA
		1412, 1615, // the table was changed since the transaction began or the statement was prepared
		1020, 3101, // conflict with another transaction: MariaDB's snapshots, group replication
		1047,       // Galera: the node is not ready
		1297, 3100, // temporary error of an engine such as NDB; group replication failed in a hook
		1927, 2006, 4031, // connection killed, lost before the statement was sent, idle for too long
		1158, 1159, // the server did not receive the statement
		9001, 9002, 9004, 9005: // ProxySQL: no server in time; TiDB: no region
		return Reply{class: Transient}
	case 1053, 3032, 3168: // shutdown, offline mode, server is not available
		return Reply{class: Transient, Leaves: true}
	case 8022, 8027, 8028, 9007: // TiDB: conflict, schema out of date or changed
		return Reply{class: Transient, Refused: true}
	case 1105: // unknown error
		return Reply{}
	case 1290, 1792, 1836:
		return Reply{class: Transient, ReadOnly: true}
	case 1160, 1161, 2013: // connection lost during the statement, as reported by the server or a proxy
		return Reply{class: Transient, unrepeatable: true}
	case 1969, 3024: // the statement ran for too long
		return Reply{class: TimedOut}
	case 1040, 1203, 1226, 1637, 9003: // too many connections or transactions, quota, TiKV is busy
		return Reply{class: Throttled}
	case 1317: // query interrupted
		return Reply{class: Canceled}
	}
	return Reply{class: Permanent}
}

// ofSQLServer: "List of transient fault error codes" in the documentation of Azure SQL
// Database, SqlServerTransientExceptionDetector of Entity Framework Core 10, and "Database
// Engine events and errors" of SQL Server for what a replica says. Their numbers of the
// transport, such as 64 and 10054, are those of .NET: go-mssqldb returns a net.Error, a
// StreamError or a RetryableError instead.
func ofSQLServer(number int64) Reply {
	switch number {
	case 3906, 976, 983: // the database is read-only, not accessible on this replica, neither primary nor secondary
		return Reply{class: Transient, ReadOnly: true}
	case 1203, 1205, 1221, 1222, 3935, 3960, 3966, // deadlock, lock not granted in time, snapshot conflict
		41301, 41302, 41305, 41325, 41839, // conflicts of memory-optimized tables
		601, 615, 617, 669, 921, 926, 997, 1807, 4060, 4221, 9515, 14355, 17197, 20041,
		40143, 40197, 40540, 40613, 42108, 42109, 49977, 49983:
		return Reply{class: Transient}
	case 6005: // shutdown
		return Reply{class: Transient, Leaves: true}
	case 10922, 10928, 10929, 10936, 40501, 49918, 49919, 49920, // limits of Azure
		1204, 8628, 8645, 8651: // out of locks, memory or time for compilation
		return Reply{class: Throttled}
	}
	return Reply{class: Permanent}
}

// ofSQLite: sqlite.org/rescode.html.
func ofSQLite(code int64) Reply {
	switch code {
	case 5, 6: // BUSY, LOCKED
		return Reply{class: Transient, Refused: true}
	case 9: // INTERRUPT
		return Reply{class: Canceled}
	case 15, 17: // PROTOCOL, a race for a lock of the write-ahead log; SCHEMA
		return Reply{class: Transient}
	case 19: // CONSTRAINT
		return Reply{class: Permanent, Refused: true}
	}
	return Reply{class: Permanent}
}

// ofMongo: the retryable codes in the specifications of retryable reads and writes, and
// WriteConflict.
func ofMongo(code int64) Class {
	switch code {
	case 6, 7, 89, 91, 112, 134, 189, 9001, 10107, 11600, 11602, 13435, 13436:
		return Transient
	case 50, 262: // MaxTimeMSExpired, ExceededTimeLimit
		return TimedOut
	}
	return Permanent
}

// ofOracle: OracleError.Bad of go-ora 2.8 and "Oracle Database Error Messages".
func ofOracle(code int64) Reply {
	switch code {
	case 60, 8177, 54, 30006, 1555, 4021, 4068, // deadlock, serialization, lock not granted, snapshot too old, package changed
		1033, 1034, 1089, 1090, 1092, 12514, 12528, 12537, 12541, 12545, 12170, // startup, shutdown, no listener
		28, 1012: // session killed, not logged on
		return Reply{class: Transient}
	case 3113, 3114, 3135, 25408: // connection lost during the call
		return Reply{class: Transient, unrepeatable: true}
	case 18, 20, 12516, 12519, 12520: // too many sessions or processes
		return Reply{class: Throttled}
	case 1013:
		return Reply{class: Canceled}
	}
	return Reply{class: Permanent}
}

// ofClickHouse: src/Common/ErrorCodes.cpp. Memory, quota, queries and parts are limits; 319
// is the unknown status of an insert.
func ofClickHouse(code int64) Reply {
	switch code {
	case 203, 209, 210, 225, 236, 242, 243, 254, 279, 285, 286, 290, 369, 425, 439, 999, 1000:
		return Reply{class: Transient}
	case 159, 160:
		return Reply{class: TimedOut}
	case 173, 201, 202, 241, 252:
		return Reply{class: Throttled}
	case 319:
		return Reply{class: Transient, unrepeatable: true}
	case 394:
		return Reply{class: Canceled}
	}
	return Reply{class: Permanent}
}

// ofCassandra: section 9 of the native protocol, version 5. A write that timed out or
// failed on a replica may have taken effect on others.
func ofCassandra(code int64) Reply {
	switch code {
	case 0x1000, 0x1002, 0x1003, 0x1300, 0x2500: // unavailable, bootstrapping, truncation, failed read, unprepared
		return Reply{class: Transient}
	case 0x1200:
		return Reply{class: TimedOut}
	case 0x1001:
		return Reply{class: Throttled}
	case 0x1100, 0x1700:
		return Reply{class: TimedOut, unrepeatable: true}
	case 0x1500, 0x1600:
		return Reply{class: Transient, unrepeatable: true}
	}
	return Reply{class: Permanent}
}

// ofLDAP: RFC 4511, appendix A, and go-ldap's own numbers.
func ofLDAP(code int64) Class {
	switch code {
	case 51, 52, 80, 81, 91, 200: // busy, unavailable, other, server down, connect error, network
		return Transient
	case 3, 85: // time limit
		return TimedOut
	}
	return Permanent
}

// ofKafka: the retriable codes of the protocol guide, as in franz-go 1.22, and
// REBALANCE_IN_PROGRESS.
func ofKafka(code int64) Class {
	switch code {
	case 2, 3, 5, 6, 8, 9, 13, 14, 15, 16, 19, 20, 27, 41, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84, 88, 100, 103, 106, 133:
		return Transient
	case 7:
		return TimedOut
	case 89:
		return Throttled
	}
	return Permanent
}

// ofAMQP: AMQP 0-9-1.
func ofAMQP(code int64) Class {
	switch code {
	case 320, 405, 501, 505, 541, // CONNECTION_FORCED, RESOURCE_LOCKED, FRAME_ERROR, UNEXPECTED_FRAME, INTERNAL_ERROR
		504: // CHANNEL_ERROR, also amqp091-go's ErrClosed
		return Transient
	case 506: // RESOURCE_ERROR
		return Throttled
	}
	return Permanent
}

// ofMail: SMTP (RFC 5321, section 4.2.1), FTP and NNTP. The first digit decides.
func ofMail(code int64) Class {
	if code >= 400 && code < 500 {
		return Transient
	}
	return Permanent
}

// ofWebSocket: RFC 6455, section 7.4, and its registry. Codes from 3000 have the meaning that
// an application gives them: 4000 of Discord asks the client to connect again, 4004 not to.
func ofWebSocket(code int64) Class {
	switch code {
	case 1002, 1003, 1007, 1008, 1009, 1010: // protocol, data type, content, policy, size, extension
		return Permanent
	case 1000, 1001, 1005, 1006, 1011, 1012, 1014: // closed, going away, no status, abnormal, internal error, restart, bad gateway
		return Transient
	case 1013: // try again later
		return Throttled
	}
	return Unknown
}

// ofSFTP: draft-ietf-secsh-filexfer-02.
func ofSFTP(code int64) Class {
	switch code {
	case 1, 4, 6, 7: // end of file, failure, no connection, connection lost
		return Transient
	}
	return Permanent
}

// ofThrift: an application's exceptions.
func ofThrift(code int64) Class {
	switch code {
	case 4, 5, 6, 7: // bad sequence, missing result, internal and protocol error
		return Transient
	}
	return Permanent
}

// ofMQTT: reason codes of MQTT 5, section 3.2.2.2.
func ofMQTT(code int64) Class {
	switch code {
	case 129, 130, 132, 133, 134, 135, 138, 140, 143, 144, 148, 149, 153, 154, 155, 157, 158, 161, 162: // the packet, the client or its rights
		return Permanent
	case 137, 151, 159: // server busy, quota exceeded, connection rate exceeded
		return Throttled
	}
	return Unknown
}

// ofBinance: error codes of the Binance API.
func ofBinance(code int64) Reply {
	switch code {
	case -1003, -1008, -1015: // too many requests, overload, too many orders
		return Reply{class: Throttled}
	case -1006, -1007: // the execution status is unknown
		return Reply{class: Transient, unrepeatable: true}
	case -1002, -1013, -1014, -1020, -1022, -2010, -2011, -2014, -2015:
		return Reply{class: Permanent}
	}
	if code <= -1100 && code > -1200 { // the request is malformed
		return Reply{class: Permanent}
	}
	return Reply{}
}
