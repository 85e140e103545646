//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/gobackoff/retry/test/testserver"
)

// PostgreSQL and MariaDB do not sync their files to disk: their data survives a crash of
// the process, but not of the machine. Redis keeps its data in memory only.

var postgres = testserver.Postgres(pings("postgres", testserver.PostgresURL))

var mariadb = &testserver.Program{
	Name:   "MariaDB",
	Signal: "TERM",
	Ready:  pings("mysql", mariadbURL),
	SetUp: func(p *testserver.Program, dir string, port int) ([]string, error) {
		install, err := testserver.Find("mariadb-install-db")
		if err != nil {
			return nil, err
		}
		server, err := testserver.Find("mariadbd", "/usr/sbin", "/usr/libexec")
		if err != nil {
			return nil, err
		}
		me, err := user.Current()
		if err != nil {
			return nil, err
		}
		data := "--datadir=" + filepath.Join(dir, "data")
		if err := testserver.Quietly(p.As(install, "--no-defaults", data, "--user="+me.Username,
			"--auth-root-authentication-method=normal", "--skip-test-db")); err != nil {
			return nil, err
		}
		return []string{server, "--no-defaults", data, "--user=" + me.Username, "--bind-address=127.0.0.1",
			"--port=" + strconv.Itoa(port), "--socket=" + filepath.Join(dir, "socket"), "--pid-file=" + filepath.Join(dir, "pid"),
			"--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync"}, nil
	},
}

// mysqlServer is the program that the environment variable MYSQLD names: Debian's stable
// release has MariaDB instead, also as mysqld.
var mysqlServer = &testserver.Program{
	Name:     "MySQL (MYSQLD)",
	Optional: true,
	Signal:   "TERM",
	Ready:    pings("mysql", mariadbURL),
	SetUp: func(p *testserver.Program, dir string, port int) ([]string, error) {
		server, err := exec.LookPath(os.Getenv("MYSQLD"))
		if err != nil {
			return nil, err
		}
		me, err := user.Current()
		if err != nil {
			return nil, err
		}
		command := []string{server, "--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--user=" + me.Username}
		if err := testserver.Quietly(p.As(server, append(command[1:], "--initialize-insecure")...)); err != nil {
			return nil, err
		}
		return append(command, "--bind-address=127.0.0.1", "--port="+strconv.Itoa(port), "--socket="+filepath.Join(dir, "socket"),
			"--pid-file="+filepath.Join(dir, "pid"), "--mysqlx=OFF", "--secure-file-priv=", "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2"), nil
	},
}

func mariadbURL(addr string) string { return "root@tcp(" + addr + ")/mysql" }

var redisServer = testserver.Redis(func(ctx context.Context, addr string) error {
	client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	return client.Ping(ctx).Err()
})

func pings(driver string, url func(addr string) string) func(context.Context, string) error {
	return func(ctx context.Context, addr string) error {
		db, err := sql.Open(driver, url(addr))
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		if err := db.PingContext(ctx); err != nil {
			return fmt.Errorf("ping: %w", err)
		}
		return nil
	}
}
