//go:build unix

package durable

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/test/testserver"
)

var jobs = flag.Int("jobs", 200, "number of jobs in TestKills; with 1,000 or more, the test does not make the engines rescue jobs sooner")

var postgres = testserver.Postgres(func(ctx context.Context, addr string) error {
	pool, err := pgxpool.New(ctx, testserver.PostgresURL(addr))
	if err != nil {
		return err
	}
	defer pool.Close()
	return pool.Ping(ctx)
})

var redisServer = testserver.Redis(func(ctx context.Context, addr string) error {
	client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	return client.Ping(ctx).Err()
})

// workerVariable is the environment variable that contains the engine's name in a worker
// process. The process runs this program with the engine's address as its argument.
const workerVariable = "DURABLE_WORKER"

func TestMain(m *testing.M) {
	if engine := os.Getenv(workerVariable); engine != "" {
		if err := work(engine, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	postgres.Clean()
	redisServer.Clean()
	os.Exit(code)
}

// database returns the URL of an empty database with River's tables.
func database(t testing.TB, name string) string {
	t.Helper()
	url := testserver.PostgresURL(postgres.Start(t))
	pool := connect(t, url)
	_, err := pool.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	url = url + "&dbname=" + name
	migrator, err := rivermigrate.New(riverpgxv5.New(connect(t, url)), nil)
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	return url
}

func connect(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func redisAt(addr string, db int) asynq.RedisClientOpt {
	return asynq.RedisClientOpt{Addr: addr, DB: db, ReadTimeout: 10 * time.Second}
}
