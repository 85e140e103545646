package retrysql

import (
	"database/sql"
	"errors"

	"github.com/gobackoff/retry"
)

// withDialect returns c, or the default classifier, with the knowledge of dialect
// behind it.
func withDialect(c retry.Classifier) retry.Classifier {
	if c == nil {
		c = retry.DefaultClassifier{}
	}
	return retry.FirstOf(c, dialect{})
}

// dialect classifies the errors of database/sql, MySQL and SQLite.
type dialect struct{}

func (dialect) Classify(err error) retry.Class {
	for e := range tree(err) {
		if number, _, ok := mysqlError(e); ok {
			return classOfMySQL(number)
		}
		if code, ok := sqliteCode(e); ok {
			return classOfSQLite(code)
		}
	}
	for _, permanent := range []error{sql.ErrNoRows, sql.ErrTxDone, sql.ErrConnDone} {
		if errors.Is(err, permanent) {
			return retry.ClassPermanent
		}
	}
	return retry.ClassUnknown
}

// classOfMySQL follows the lists "Server Error Message Reference" of MySQL and
// "MariaDB Error Codes".
func classOfMySQL(number uint64) retry.Class {
	switch number {
	case 1040, 1203: // too many connections, of the server and of the user
		return retry.ClassThrottled
	case 1205, // lock wait timeout
		1213,       // deadlock
		1020,       // record has changed, with innodb_snapshot_isolation of MariaDB
		1412,       // table definition has changed since the transaction began
		3101,       // rolled back by group replication
		3572,       // NOWAIT
		1047,       // a node of Galera is not ready
		1053, 1927, // shutdown, connection killed
		1290, 1836: // read-only, as during a failover
		return retry.ClassTransient
	}
	return retry.ClassPermanent
}

func classOfSQLite(code uint64) retry.Class {
	switch code {
	case sqliteBusy, sqliteLocked:
		return retry.ClassTransient
	}
	return retry.ClassPermanent
}
