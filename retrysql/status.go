package retrysql

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
)

// status is that of a transaction.
type status int

const (
	statusUnknown status = iota
	statusOpen
	statusLeft  // a statement ended it
	statusEnded // its method Commit or Rollback did: the connection may already serve others
)

// statusOf returns the status that the driver knows from the server's last response. There
// are no methods that lead to it from a [sql.Tx], so the fields of database/sql, pgx, lib/pq
// and go-sql-driver/mysql are read. If they are renamed, the status is unknown.
func statusOf(tx any) status {
	if tx, ok := tx.(interface {
		StmtContext(context.Context, *sql.Stmt) *sql.Stmt
	}); ok {
		ctx := context.Background()
		// No statement is executed, because the empty one belongs to no database.
		if _, err := tx.StmtContext(ctx, new(sql.Stmt)).ExecContext(ctx); errors.Is(err, sql.ErrTxDone) {
			return statusEnded
		}
	}
	v := reflect.ValueOf(tx)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface || v.Kind() == reflect.Struct {
		if v.Kind() != reflect.Struct {
			v = v.Elem()
			continue
		}
		switch v.Type().String() {
		case "sql.Tx":
			v = v.FieldByName("dc")
		case "pgx.dbTx":
			if number(v, "closed") == 1 {
				return statusEnded
			}
			v = v.FieldByName("conn")
		case "sqlx.Tx", "bun.Tx":
			v = v.FieldByName("Tx")
		case "sql.driverConn":
			v = v.FieldByName("ci")
		case "stdlib.Conn":
			v = v.FieldByName("conn")
		case "pgxpool.Tx":
			v = v.FieldByName("t")
		case "pgx.Conn":
			v = v.FieldByName("pgConn")
		case "pgconn.PgConn":
			return openIf(number(v, "txStatus") != 'I')
		case "pq.conn":
			return openIf(number(v, "txnStatus") != 'I')
		case "mysql.mysqlConn":
			return openIf(number(v, "status")&1 != 0) // SERVER_STATUS_IN_TRANS
		default:
			return statusUnknown
		}
	}
	return statusUnknown
}

func openIf(open bool) status {
	if open {
		return statusOpen
	}
	return statusLeft
}

// number returns the value of a field that is a number or a bool, or 0.
func number(v reflect.Value, name string) uint64 {
	if v.Kind() != reflect.Struct {
		return 0
	}
	switch f := v.FieldByName(name); {
	case f.Kind() == reflect.Bool && f.Bool():
		return 1
	case f.CanUint():
		return f.Uint()
	}
	return 0
}
