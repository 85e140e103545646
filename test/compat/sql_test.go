package compat

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/golang-migrate/migrate/v4"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/embed"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/gobackoff/retry"
)

// postgres starts a server that responds to "fail X" with an error whose SQLSTATE is X,
// closes the connection at COMMIT without a response, and accepts everything else.
func postgres(t *testing.T) (host string, port int) {
	t.Helper()
	address := listen(t, servePostgres)
	return address.IP.String(), address.Port
}

func servePostgres(conn net.Conn) {
	backend := pgproto3.NewBackend(conn, conn)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	status := byte('I')
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.ReadyForQuery{TxStatus: status})
	for backend.Flush() == nil {
		message, err := backend.Receive()
		if err != nil {
			return
		}
		query, ok := message.(*pgproto3.Query)
		if !ok {
			return // Terminate
		}
		word, state, _ := strings.Cut(query.String, " ")
		switch word = strings.ToUpper(word); word {
		case "COMMIT":
			return
		case "BEGIN":
			status = 'T'
		}
		if word == "FAIL" {
			backend.Send(&pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: state, Message: "no"})
		} else {
			backend.Send(&pgproto3.CommandComplete{CommandTag: []byte(word)})
		}
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: status})
	}
}

func stateFaults(t *testing.T, exec func(statement string) error) []fault {
	t.Helper()
	var faults []fault
	for _, state := range []struct {
		code, name   string
		class        retry.Class
		unrepeatable bool
	}{
		{code: "40001", name: "serialization_failure", class: transient},
		{code: "40P01", name: "deadlock_detected", class: transient},
		{code: "55P03", name: "lock_not_available", class: transient},
		{code: "55006", name: "object_in_use", class: transient},
		{code: "57P01", name: "admin_shutdown", class: transient},
		{code: "57P03", name: "cannot_connect_now", class: transient},
		{code: "08006", name: "connection_failure", class: transient},
		{code: "53300", name: "too_many_connections", class: throttled},
		{code: "53200", name: "out_of_memory", class: throttled},
		{code: "40003", name: "statement_completion_unknown", class: transient, unrepeatable: true},
		{code: "08007", name: "transaction_resolution_unknown", class: transient, unrepeatable: true},
		{code: "57014", name: "query_canceled", class: permanent},
		{code: "23505", name: "unique_violation", class: permanent},
		{code: "42601", name: "syntax_error", class: permanent},
		{code: "25006", name: "read_only_sql_transaction", class: transient},
		{code: "25P03", name: "idle_in_transaction_session_timeout", class: transient},
		{code: "25P04", name: "transaction_timeout", class: transient},
		{code: "57P05", name: "idle_session_timeout", class: transient},
		{code: "58C00", name: "CockroachDB: range unavailable", class: transient},
		{code: "58C01", name: "CockroachDB: connection between nodes failed", class: transient},
	} {
		faults = append(faults, fault{
			name: state.code + " " + state.name, err: exec("fail " + state.code),
			class: state.class, unrepeatable: state.unrepeatable,
		})
	}
	return faults
}

func pgxFaults(t *testing.T) []fault {
	host, port := postgres(t)
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%d user=u sslmode=disable default_query_exec_mode=simple_protocol", host, port))
	require.NoError(t, err)
	connect := func() *pgx.Conn {
		conn, err := pgx.ConnectConfig(t.Context(), config)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close(context.Background()) })
		return conn
	}
	conn := connect()
	tx, err := connect().Begin(t.Context())
	require.NoError(t, err)
	refused := config.Copy()
	refused.Port = 1
	_, connection := pgx.ConnectConfig(t.Context(), refused)
	return append(stateFaults(t, func(statement string) error {
		_, err := conn.Exec(t.Context(), statement)
		return err
	}),
		fault{name: "connection refused", err: connection, class: transient},
		fault{name: "connection lost during COMMIT", err: tx.Commit(t.Context()), class: transient, unrepeatable: true},
		fault{name: "`pgx.ErrNoRows`", err: pgx.ErrNoRows, class: permanent})
}

func pqFaults(t *testing.T) []fault {
	host, port := postgres(t)
	db, err := sql.Open("postgres", fmt.Sprintf("host=%s port=%d user=u sslmode=disable", host, port))
	require.NoError(t, err)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	return append(stateFaults(t, func(statement string) error {
		_, err := db.ExecContext(t.Context(), statement)
		return err
	}), fault{name: "connection lost during COMMIT", err: tx.Commit(), class: transient})
}

func mysqlFaults(*testing.T) []fault {
	faults := []fault{{name: "`ErrInvalidConn`", err: mysql.ErrInvalidConn, class: transient, unrepeatable: true}}
	for _, number := range []struct {
		number       uint16
		name         string
		class        retry.Class
		unrepeatable bool
	}{
		{number: 1213, name: "deadlock", class: transient},
		{number: 1205, name: "lock wait timeout", class: transient},
		{number: 3572, name: "NOWAIT", class: transient},
		{number: 1020, name: "record has changed", class: transient},
		{number: 3101, name: "rollback during commit", class: transient},
		{number: 1047, name: "Galera: node not ready", class: transient},
		{number: 1053, name: "shutdown", class: transient},
		{number: 1927, name: "connection killed", class: transient},
		{number: 4031, name: "client was idle", class: transient},
		{number: 1158, name: "statement not received", class: transient},
		{number: 1615, name: "statement to be prepared again", class: transient},
		{number: 1792, name: "read-only transaction", class: transient},
		{number: 2006, name: "server gone", class: transient},
		{number: 2013, name: "connection lost during the query", class: transient, unrepeatable: true},
		{number: 1040, name: "too many connections", class: throttled},
		{number: 1203, name: "too many connections of a user", class: throttled},
		{number: 1226, name: "quota of a user", class: throttled},
		{number: 1637, name: "too many transactions", class: throttled},
		{number: 1062, name: "duplicate key", class: permanent},
		{number: 1064, name: "syntax error", class: permanent},
		{number: 1317, name: "query interrupted", class: permanent},
		{number: 1290, name: "read only", class: transient},
		{number: 1297, name: "temporary error of an engine", class: transient},
		{number: 3032, name: "offline mode", class: transient},
		{number: 3100, name: "group replication failed", class: transient},
		{number: 3168, name: "server not available", class: transient},
		{number: 8027, name: "TiDB: schema out of date", class: transient},
	} {
		faults = append(faults, fault{
			name: fmt.Sprint(number.number, " ", number.name), err: &mysql.MySQLError{Number: number.number},
			class: number.class, unrepeatable: number.unrepeatable,
		})
	}
	return faults
}

func sqlServerFaults(*testing.T) []fault {
	faults := []fault{
		{name: "`RetryableError`", err: mssql.RetryableError{}, class: transient},
		{name: "`StreamError`", err: mssql.StreamError{InnerError: io.ErrUnexpectedEOF}, class: transient},
	}
	for _, number := range []struct {
		number int32
		name   string
		class  retry.Class
	}{
		{1205, "deadlock", transient}, {1222, "lock timeout", transient}, {3960, "snapshot conflict", transient},
		{41302, "conflict of memory-optimized tables", transient}, {4060, "cannot open database", transient},
		{40197, "error of the service", transient}, {40613, "database unavailable", transient},
		{3906, "read-only database", transient}, {976, "database of a replica not accessible", transient}, {983, "replica changes its role", transient},
		{40501, "service busy", throttled}, {10928, "resource limit", throttled}, {49918, "not enough resources", throttled},
		{2627, "unique constraint", permanent}, {102, "syntax error", permanent}, {18456, "login failed", permanent},
	} {
		faults = append(faults, fault{name: fmt.Sprint(number.number, " ", number.name), err: mssql.Error{Number: number.number}, class: number.class})
	}
	return faults
}

// sqliteFaults calls the function open to make two connections to one file.
func sqliteFaults(t *testing.T, open func(file string) (exec func(statement string) error)) []fault {
	t.Helper()
	file := "file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "test.db"))
	first, second := open(file), open(file)
	require.NoError(t, second("PRAGMA busy_timeout = 0"))
	require.NoError(t, first("PRAGMA journal_mode = WAL"))
	require.NoError(t, first("CREATE TABLE t (n INTEGER PRIMARY KEY)"))
	require.NoError(t, second("BEGIN"))
	require.NoError(t, second("SELECT count(*) FROM t"))
	require.NoError(t, first("INSERT INTO t VALUES (1)"))
	snapshot := second("INSERT INTO t VALUES (2)")
	require.NoError(t, second("ROLLBACK"))
	require.NoError(t, first("BEGIN IMMEDIATE"))
	return []fault{
		{name: "BUSY", err: second("BEGIN IMMEDIATE"), class: transient},
		{name: "BUSY_SNAPSHOT", err: snapshot, class: transient},
		{name: "syntax error", err: first("SELEC 1"), class: permanent},
		{name: "unique constraint", err: first("INSERT INTO t VALUES (1)"), class: permanent},
	}
}

func sqlConn(t *testing.T, driver string) func(file string) func(statement string) error {
	return func(file string) func(string) error {
		db, err := sql.Open(driver, file)
		require.NoError(t, err)
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() {
			conn.Close()
			db.Close()
		})
		return func(statement string) error {
			_, err := conn.ExecContext(t.Context(), statement)
			return err
		}
	}
}

func moderncFaults(t *testing.T) []fault { return sqliteFaults(t, sqlConn(t, "sqlite")) }

func mattnFaults(t *testing.T) []fault { return sqliteFaults(t, sqlConn(t, "sqlite3")) }

// ncrucesFaults does not use the package's database/sql driver, because that driver has the
// same name as mattn's.
func ncrucesFaults(t *testing.T) []fault {
	return sqliteFaults(t, func(file string) func(string) error {
		conn, err := sqlite3.Open(file)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn.Exec
	})
}

func migrateFaults(*testing.T) []fault {
	return []fault{
		{name: "`ErrDirty`", err: migrate.ErrDirty{Version: 3}, class: permanent, unknown: true},
		{name: "`ErrShortLimit`", err: migrate.ErrShortLimit{Short: 1}, class: permanent, unknown: true},
	}
}
