// Package mysql imitates the connection of github.com/go-sql-driver/mysql v1.10.1, whose
// status retrysql reads by the names of the package, the type and the field.
package mysql

import (
	"context"
	"database/sql/driver"
)

// Connector opens connections.
type Connector struct{}

func (Connector) Connect(context.Context) (driver.Conn, error) { return new(mysqlConn), nil }
func (Connector) Driver() driver.Driver                        { return nil }

type mysqlConn struct {
	driver.Conn
	status uint16
}

const inTransaction = 1

func (c *mysqlConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	c.status |= inTransaction
	return mysqlTx{c}, nil
}

func (c *mysqlConn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	if query == "COMMIT" || query == "ROLLBACK" {
		c.status &^= inTransaction
	}
	return driver.ResultNoRows, nil
}

func (c *mysqlConn) Close() error { return nil }

type mysqlTx struct{ *mysqlConn }

func (t mysqlTx) Commit() error   { t.status &^= inTransaction; return nil }
func (t mysqlTx) Rollback() error { t.status &^= inTransaction; return nil }
