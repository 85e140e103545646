//go:build unix

package servers_test

import (
	"context"
	"database/sql"
	"fmt"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// The servers. PostgreSQL and MariaDB do not sync their files to disk: their data
// survives a crash of the process, but not of the machine. Redis has it in memory only.

var postgres = &program{
	name:   "PostgreSQL",
	signal: "INT", // fast shutdown
	asUID:  "postgres",
	ready:  pings("postgres", postgresURL),
}

func init() { // setUp refers to its program
	postgres.setUp = func(dir string, port int) ([]string, error) {
		const debian = "/usr/lib/postgresql/*/bin"
		initdb, err := find("initdb", debian)
		if err != nil {
			return nil, err
		}
		server, err := find("postgres", filepath.Dir(initdb), debian)
		if err != nil {
			return nil, err
		}
		data := filepath.Join(dir, "data")
		if err := quietly(postgres.as(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")); err != nil {
			return nil, err
		}
		return []string{server, "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1",
			"-c", "fsync=off", "-c", "deadlock_timeout=20ms"}, nil
	}
	mariadb.setUp = func(dir string, port int) ([]string, error) {
		install, err := find("mariadb-install-db")
		if err != nil {
			return nil, err
		}
		server, err := find("mariadbd", "/usr/sbin", "/usr/libexec")
		if err != nil {
			return nil, err
		}
		me, err := user.Current()
		if err != nil {
			return nil, err
		}
		data := "--datadir=" + filepath.Join(dir, "data")
		if err := quietly(mariadb.as(install, "--no-defaults", data, "--user="+me.Username,
			"--auth-root-authentication-method=normal", "--skip-test-db")); err != nil {
			return nil, err
		}
		return []string{server, "--no-defaults", data, "--user=" + me.Username, "--bind-address=127.0.0.1",
			"--port=" + strconv.Itoa(port), "--socket=" + filepath.Join(dir, "socket"), "--pid-file=" + filepath.Join(dir, "pid"),
			"--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync"}, nil
	}
}

func postgresURL(addr string) string {
	return "postgres://postgres@" + addr + "/postgres?sslmode=disable"
}

var mariadb = &program{
	name:   "MariaDB",
	signal: "TERM",
	ready:  pings("mysql", mariadbURL),
}

func mariadbURL(addr string) string { return "root@tcp(" + addr + ")/mysql" }

var redisServer = &program{
	name:   "Redis",
	signal: "TERM",
	setUp: func(dir string, port int) ([]string, error) {
		server, err := find("redis-server")
		return []string{server, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir, "--save", ""}, err
	},
	ready: func(ctx context.Context, addr string) error {
		client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
		defer func() { _ = client.Close() }()
		return client.Ping(ctx).Err()
	},
}

// pings returns a function that pings a server through database/sql.
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
