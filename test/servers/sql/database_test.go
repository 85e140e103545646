//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/test/testserver"
)

func init() {
	_ = mysql.SetLogger(&mysql.NopLogger{}) // by default, the driver logs every cut connection
}

// session runs statements inside or outside a transaction.
type session interface {
	exec(ctx context.Context, query string) error
	number(ctx context.Context, query string) (int, error)
}

type database interface {
	session
	// inTx calls InTx or InTxFunc.
	inTx(ctx context.Context, p retry.Policy, level sql.IsolationLevel, fn func(context.Context, session) error) error
	// once runs a transaction without retries.
	once(ctx context.Context, fn func(context.Context, session) error) error
	// idle returns the number of unused connections and the number of all connections.
	idle() (idle, open int)
	Close()
}

type variant struct {
	name   string
	server *testserver.Program // nil for SQLite
	frames framing
	open   func(t testing.TB, addr string, connections int) database
	keys   retrysql.Keys
	table  string // of the keys
}

// variants lists the drivers whose connections can go through a proxy.
var variants = []variant{
	{"pgxpool", postgres, postgresFrames, pooled(testserver.PostgresURL), retrysql.PostgresKeys, retrysql.PostgresKeysTable},
	{"pgx stdlib", postgres, postgresFrames, standard("pgx", testserver.PostgresURL), retrysql.PostgresKeys, retrysql.PostgresKeysTable},
	{"lib/pq", postgres, postgresFrames, standard("postgres", testserver.PostgresURL), retrysql.PostgresKeys, retrysql.PostgresKeysTable},
	{"go-sql-driver", mariadb, mysqlFrames, standard("mysql", mariadbURL), retrysql.MariaDBKeys, retrysql.MariaDBKeysTable},
}

// keyVariants lists what keys are tested with: MySQL itself is seldom installed.
var keyVariants = append(slices.Clone(variants),
	variant{"go-sql-driver, MySQL", mysqlServer, mysqlFrames, standard("mysql", mariadbURL), retrysql.MySQLKeys, retrysql.MySQLKeysTable},
	variant{"go-sql-driver, MySQL's statements", mariadb, mysqlFrames, standard("mysql", mariadbURL), mysqlKeysOnMariaDB(), retrysql.MySQLKeysTable},
)

// mysqlKeysOnMariaDB returns MySQLKeys in MariaDB's syntax.
func mysqlKeysOnMariaDB() retrysql.Keys {
	keys := retrysql.MySQLKeys
	keys.Find = strings.Replace(keys.Find, "FOR SHARE", "LOCK IN SHARE MODE", 1)
	return keys
}

// embedded lists the SQLite drivers; their address is a directory.
var embedded = []variant{
	{name: "modernc", open: standard("sqlite", func(dir string) string {
		return "file:" + filepath.Join(dir, "db") + "?_pragma=synchronous(off)&_pragma=foreign_keys(1)"
	})},
	{name: "mattn", open: standard("sqlite3", func(dir string) string {
		return "file:" + filepath.Join(dir, "db") + "?_synchronous=off&_busy_timeout=0&_foreign_keys=1"
	})},
}

// pooled returns a function that opens a database through a pgxpool.
func pooled(url func(addr string) string) func(testing.TB, string, int) database {
	return func(t testing.TB, addr string, connections int) database {
		config, err := pgxpool.ParseConfig(url(addr))
		require.NoError(t, err)
		config.MaxConns = int32(connections)
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		require.NoError(t, err)
		return pgxDatabase{pgxSession{pool}, pool}
	}
}

// standard returns a function that opens a database through a database/sql driver.
func standard(driver string, url func(string) string) func(testing.TB, string, int) database {
	return func(t testing.TB, addr string, connections int) database {
		db, err := sql.Open(driver, url(addr))
		require.NoError(t, err)
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		d := sqlDatabase{sqlSession: sqlSession{db}, db: db}
		if driver == "mysql" {
			d.keys = retrysql.MariaDBKeys
		}
		return d
	}
}

// address starts the server, or creates a directory for SQLite. It skips the test if the
// database is not available.
func (v variant) address(t *testing.T) string {
	t.Helper()
	if v.server != nil {
		return v.server.Start(t)
	}
	dir := t.TempDir()
	db := v.open(t, dir, 1)
	defer db.Close()
	if err := db.exec(t.Context(), "SELECT 1"); err != nil {
		t.Skipf("SQLite is not usable: %v", err)
	}
	return dir
}

func (v variant) connect(t *testing.T, addr string, connections int) database {
	t.Helper()
	db := v.open(t, addr, connections)
	t.Cleanup(db.Close)
	return db
}

func createTable(t testing.TB, db session, name, columns string) {
	t.Helper()
	require.NoError(t, db.exec(t.Context(), "DROP TABLE IF EXISTS "+name))
	require.NoError(t, db.exec(t.Context(), fmt.Sprintf("CREATE TABLE %s (%s)", name, columns)))
}

func number(t *testing.T, db session, query string) int {
	t.Helper()
	n, err := db.number(t.Context(), query)
	require.NoError(t, err)
	return n
}

type sqlSession struct {
	do interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
}

func (s sqlSession) exec(ctx context.Context, query string) error {
	_, err := s.do.ExecContext(ctx, query)
	return err
}

func (s sqlSession) number(ctx context.Context, query string) (n int, err error) {
	err = s.do.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

type sqlDatabase struct {
	sqlSession
	db   *sql.DB
	keys retrysql.Keys // for Once instead of AskingDB, if not zero
}

func (d sqlDatabase) inTx(ctx context.Context, p retry.Policy, level sql.IsolationLevel, fn func(context.Context, session) error) error {
	return retrysql.InTx(ctx, p, d.db, &sql.TxOptions{Isolation: level}, func(ctx context.Context, tx *sql.Tx) error {
		return fn(ctx, sqlSession{tx})
	})
}

func (d sqlDatabase) once(ctx context.Context, fn func(context.Context, session) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(ctx, sqlSession{tx}); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

func (d sqlDatabase) idle() (idle, open int) {
	stats := d.db.Stats()
	return stats.Idle, stats.OpenConnections
}

func (d sqlDatabase) Close() { _ = d.db.Close() }

type pgxSession struct {
	do interface {
		Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
		QueryRow(ctx context.Context, query string, args ...any) pgx.Row
	}
}

func (s pgxSession) exec(ctx context.Context, query string) error {
	_, err := s.do.Exec(ctx, query)
	return err
}

func (s pgxSession) number(ctx context.Context, query string) (n int, err error) {
	err = s.do.QueryRow(ctx, query).Scan(&n)
	return n, err
}

type pgxDatabase struct {
	pgxSession
	pool *pgxpool.Pool
}

func (d pgxDatabase) inTx(ctx context.Context, p retry.Policy, level sql.IsolationLevel, fn func(context.Context, session) error) error {
	begin := d.pool.Begin
	if level == sql.LevelSerializable {
		begin = func(ctx context.Context) (pgx.Tx, error) {
			return d.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.Serializable})
		}
	}
	return retrysql.InTxFunc(ctx, p, begin, func(ctx context.Context, tx pgx.Tx) error { return fn(ctx, pgxSession{tx}) })
}

func (d pgxDatabase) once(ctx context.Context, fn func(context.Context, session) error) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return fn(ctx, pgxSession{tx}) })
}

func (d pgxDatabase) idle() (idle, open int) {
	stats := d.pool.Stat()
	return int(stats.IdleConns()), int(stats.TotalConns())
}

func (d pgxDatabase) Close() { d.pool.Close() }
