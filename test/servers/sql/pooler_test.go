//go:build unix

package sql_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/test/testserver"
)

// startPooler starts pgbouncer, which gives each transaction, and so each question, any of
// its connections to the server at addr.
func startPooler(t *testing.T, addr string) string {
	p := &testserver.Program{
		Name: "PgBouncer", Signal: "TERM", AsUID: "postgres", Ready: pings("pgx", poolerURL),
		SetUp: func(_ *testserver.Program, dir string, port int) ([]string, error) {
			program, err := testserver.Find("pgbouncer", "/usr/sbin")
			if err != nil {
				return nil, err
			}
			host, server, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			config := filepath.Join(dir, "pgbouncer.ini")
			return []string{program, config}, os.WriteFile(config, fmt.Appendf(nil, `
[databases]
postgres = host=%s port=%s user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
auth_type = any
admin_users = postgres
pool_mode = transaction
server_round_robin = 1
server_login_retry = 0
default_pool_size = 8
unix_socket_dir =
`, host, server, port), 0o644)
		},
	}
	t.Cleanup(p.Clean)
	return p.Start(t)
}

func poolerURL(addr string) string {
	return testserver.PostgresURL(addr) + "&default_query_exec_mode=simple_protocol"
}

// TestPooler: behind the pooler are two servers that know nothing of each other. Each
// transaction runs on one of them, and the question may reach the other.
func TestPooler(t *testing.T) {
	var servers []session
	var addrs []string
	for _, p := range []*testserver.Program{postgres, testserver.Postgres(pings("postgres", testserver.PostgresURL))} {
		if p != postgres {
			t.Cleanup(p.Clean)
		}
		addrs = append(addrs, p.Start(t))
		servers = append(servers, variants[0].connect(t, addrs[len(addrs)-1], 1))
		createBank(t, servers[len(servers)-1], 8)
	}
	p := startProxy(t, addrs[0], postgresFrames, randomFaults(*seed))
	p.lead(addrs...)
	db := asking{standard("pgx", poolerURL)(t, startPooler(t, p.addr()), 4)}
	policy := quick
	policy.MaxAttempts = 100
	sum := work{transactions: size(200), workers: 4, accounts: 8, policy: policy}.run(t.Context(), db)
	db.Close()
	rows := func(id int) (n int) {
		for _, s := range servers {
			n += number(t, s, fmt.Sprintf("SELECT count(*) FROM ledger WHERE id = %d", id))
		}
		return n
	}
	for _, id := range sum.acked {
		assert.Equal(t, 1, rows(id))
	}
	for _, id := range sum.failed {
		assert.Zero(t, rows(id))
	}
	for _, id := range sum.unknown {
		assert.LessOrEqual(t, rows(id), 1)
	}
	t.Logf("%d connections cut, %d attempts, %d acknowledged, %d unknown, %d failed %v", p.cuts.Load(), sum.attempts.Load(), len(sum.acked), len(sum.unknown), len(sum.failed), sum.failures)
	require.NotEmpty(t, sum.acked)
	for _, s := range servers {
		assert.NotZero(t, number(t, s, "SELECT count(*) FROM ledger"))
	}
}

// TestPoolerKills: PgBouncer itself closes all connections, again and again. Almost all
// outcomes are learned.
func TestPoolerKills(t *testing.T) {
	const v = 0
	addr := variants[v].address(t)
	direct := variants[v].connect(t, addr, 1)
	createBank(t, direct, 8)
	pooler := startPooler(t, addr)
	admin, err := pgx.Connect(t.Context(), "postgres://postgres@"+pooler+"/pgbouncer?sslmode=disable&default_query_exec_mode=simple_protocol")
	require.NoError(t, err)
	defer func() { assert.NoError(t, admin.Close(context.Background())) }()
	db := asking{standard("pgx", poolerURL)(t, pooler, 4)}
	policy := retry.Policy{MaxAttempts: 1000, Backoff: retry.FullJitter{Base: time.Millisecond, Cap: 10 * time.Millisecond}}
	done := make(chan *tally)
	go func() {
		done <- work{transactions: size(200), workers: 4, accounts: 8, policy: policy}.run(t.Context(), db)
	}()
	kills := 0
	var sum *tally
	for sum == nil {
		select {
		case sum = <-done:
		case <-time.After(50 * time.Millisecond):
			for _, command := range []string{"KILL postgres", "RESUME postgres"} {
				_, err := admin.Exec(t.Context(), command)
				assert.NoError(t, err)
			}
			kills++
		}
	}
	db.Close()
	t.Logf("%d kills", kills)
	sum.check(t, direct)
	assert.NotZero(t, kills)
	assert.Empty(t, sum.failed, "%v", sum.failures)
	assert.LessOrEqual(t, len(sum.unknown), size(200)/100)
}
