//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/test/testserver"
)

// A cluster is a PostgreSQL server with a streaming replica.
type cluster struct {
	primary, replica *testserver.Program
	onPrimary        session
	onReplica        session
	primaryAddr      string
	replicaAddr      string
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{primary: testserver.Postgres(pings("postgres", testserver.PostgresURL))}
	c.primaryAddr = c.primary.Start(t)
	t.Cleanup(c.primary.Clean)
	c.replica = &testserver.Program{
		Name: "PostgreSQL replica", Signal: "INT", AsUID: "postgres", Ready: pings("postgres", testserver.PostgresURL),
		SetUp: func(p *testserver.Program, dir string, port int) ([]string, error) {
			const debian = "/usr/lib/postgresql/*/bin"
			backup, err := testserver.Find("pg_basebackup", debian)
			if err != nil {
				return nil, err
			}
			data := filepath.Join(dir, "data")
			if err := testserver.Quietly(p.As(backup, "-D", data, "-R", "-c", "fast", "--no-sync",
				"-d", testserver.PostgresURL(c.primaryAddr)+"&application_name=replica")); err != nil {
				return nil, err
			}
			server, err := testserver.Find("postgres", filepath.Dir(backup), debian)
			return []string{server, "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_prepared_transactions=4"}, err
		},
	}
	c.replicaAddr = c.replica.Start(t)
	t.Cleanup(c.replica.Clean)
	c.onPrimary = variants[0].connect(t, c.primaryAddr, 1)
	c.onReplica = variants[0].connect(t, c.replicaAddr, 1)
	return c
}

func run(t *testing.T, db session, statements ...string) {
	t.Helper()
	for _, s := range statements {
		require.NoError(t, db.exec(t.Context(), s), s)
	}
}

func until(t *testing.T, db session, query string) {
	t.Helper()
	require.Eventually(t, func() bool {
		n, err := db.number(t.Context(), query)
		return err == nil && n == 1
	}, soon, 5*time.Millisecond, query)
}

func (c *cluster) promote(t *testing.T) {
	t.Helper()
	run(t, c.onReplica, "SELECT pg_promote()")
	until(t, c.onReplica, "SELECT (NOT pg_is_in_recovery())::int")
}

// lose runs a transaction whose COMMIT is lost, and has turn called before the outcome is
// asked for. It returns the result and the transaction's number.
func (c *cluster) lose(t *testing.T, forwarded bool, turn func(p *proxy, number int)) error {
	number := 0
	var p *proxy
	lost := false
	p = startProxy(t, c.primaryAddr, postgresFrames, func(m message) fault {
		if !m.commit || lost {
			return fault{}
		}
		if m.toServer && forwarded {
			return fault{} // the response is lost
		}
		lost = true
		turn(p, number)
		return fault{cut: before}
	})
	db := asking{variants[0].open(t, p.addr(), 2)}
	defer db.Close()
	return db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) (err error) {
		if err := tx.exec(ctx, "INSERT INTO lost VALUES (1)"); err != nil {
			return err
		}
		number, err = tx.number(ctx, "SELECT pg_current_xact_id()::text::int")
		return err
	})
}

// TestReplicaAsked: a replica that lacks the transaction is not believed, neither before nor
// after its promotion, even if it has used the transaction's number again.
func TestReplicaAsked(t *testing.T) {
	c := startCluster(t)
	run(t, c.onPrimary, "CREATE TABLE lost (id INT)", "CREATE TABLE other (id INT)", "CREATE SEQUENCE s") // and see whether the replica follows
	until(t, c.onReplica, "SELECT count(*) FROM pg_class WHERE relname = 's'")
	run(t, c.onReplica, "ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
	until(t, c.onPrimary, "SELECT (count(*) = 0)::int FROM pg_stat_replication")

	err := c.lose(t, true, func(p *proxy, _ int) { p.lead(c.replicaAddr) })
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.ErrorContains(t, err, "another server")
	assert.Equal(t, 1, number(t, c.onPrimary, "SELECT count(*) FROM lost"), "it took effect")

	status := ""
	err = c.lose(t, true, func(p *proxy, number int) {
		c.promote(t)
		useNumbers(t, c.onReplica, number)
		require.NoError(t, c.onReplica.(pgxDatabase).pool.QueryRow(t.Context(), fmt.Sprintf("SELECT pg_xact_status('%d')", number)).Scan(&status))
		p.lead(c.replicaAddr)
	})
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.ErrorContains(t, err, "another server")
	assert.Equal(t, 2, number(t, c.onPrimary, "SELECT count(*) FROM lost"), "it took effect")
	assert.Equal(t, "aborted", status, "pg_xact_status alone would lie")
}

// useNumbers has transactions abort until the number is used.
func useNumbers(t *testing.T, db session, number int) {
	t.Helper()
	for next := 0; next <= number; {
		require.Error(t, db.exec(t.Context(), "DO $$ BEGIN PERFORM pg_current_xact_id(); RAISE 'no'; END $$"))
		var err error
		next, err = db.number(t.Context(), "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::int")
		require.NoError(t, err)
	}
}

// TestCrashAsked: a server that crashed before the transaction's records were written gives
// its number away again, and is not believed.
func TestCrashAsked(t *testing.T) {
	c := &cluster{primary: testserver.Postgres(pings("postgres", testserver.PostgresURL))}
	c.primaryAddr = c.primary.Start(t)
	t.Cleanup(c.primary.Clean)
	c.onPrimary = variants[0].connect(t, c.primaryAddr, 1)
	run(t, c.onPrimary, "CREATE TABLE lost (id INT)", "CREATE TABLE other (id INT)",
		"ALTER SYSTEM SET wal_writer_delay = '10s'", "SELECT pg_reload_conf()", "SELECT pg_switch_wal()", "CHECKPOINT")
	again := 0
	err := c.lose(t, false, func(_ *proxy, lost int) {
		require.NoError(t, c.primary.Stop("QUIT"))
		require.NoError(t, c.primary.Run())
		require.EventuallyWithT(t, func(e *assert.CollectT) { assert.NoError(e, c.onPrimary.exec(t.Context(), "SELECT 1")) }, soon, 5*time.Millisecond)
		again = number(t, c.onPrimary, "WITH r AS (INSERT INTO other VALUES (1) RETURNING pg_current_xact_id()::text::int AS n) SELECT n FROM r")
		assert.Equal(t, lost, again, "the number is used again")
		var status string
		require.NoError(t, c.onPrimary.(pgxDatabase).pool.QueryRow(t.Context(), fmt.Sprintf("SELECT pg_xact_status('%d')", lost)).Scan(&status))
		assert.Equal(t, "committed", status, "pg_xact_status alone would lie")
	})
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.ErrorContains(t, err, "another server")
	assert.Zero(t, number(t, c.onPrimary, "SELECT count(*) FROM lost"))
}

// soon is the time limit for everything that should happen quickly, on a machine that may
// stall.
const soon = 2 * time.Minute

// TestFailover: the replica takes over at the primary's address, while the primary becomes a
// replica that still serves its open connections. Transactions that meet it run again on
// other connections.
func TestFailover(t *testing.T) {
	for _, v := range variants {
		if v.server != postgres {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			c := startCluster(t)
			createBank(t, c.onPrimary, 8)
			p := startProxy(t, c.primaryAddr, v.frames, func(message) fault { return fault{delay: time.Millisecond} })
			db := v.open(t, p.addr(), 4)
			var refused atomic.Int64
			policy := retry.Policy{MaxAttempts: 1000, Backoff: retry.FullJitter{Base: 5 * time.Millisecond, Cap: 100 * time.Millisecond}}
			policy.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
				if strings.Contains(failed.Err.Error(), "read-only") || strings.Contains(failed.Err.Error(), "recovery") {
					if refused.Add(1) == 20 {
						p.lead(c.replicaAddr)
					}
				}
			}
			done := make(chan *tally)
			go func() {
				done <- work{transactions: size(400), workers: 4, accounts: 8, policy: policy}.run(t.Context(), db)
			}()
			until(t, c.onPrimary, "SELECT (count(*) > 50)::int FROM ledger")
			c.swap(t)
			sum := <-done
			db.Close()
			p.close()
			sum.check(t, c.onReplica)
			assert.Empty(t, sum.failed, "%v", sum.failures)
			t.Logf("%d attempts met a server that was read-only", refused.Load())
			assert.GreaterOrEqual(t, refused.Load(), int64(20))
			assert.Less(t, refused.Load(), int64(100), "few more than were needed to notice it")
		})
	}
}

// swap makes the replica the primary, and the primary its replica.
func (c *cluster) swap(t *testing.T) {
	t.Helper()
	run(t, c.onPrimary, "ALTER SYSTEM SET primary_conninfo = '"+testserver.PostgresURL(c.replicaAddr)+"'")
	var data string
	require.NoError(t, c.onPrimary.(pgxDatabase).pool.QueryRow(t.Context(), "SHOW data_directory").Scan(&data))
	require.NoError(t, c.primary.Stop("INT")) // waits until the replica has everything
	c.promote(t)
	require.NoError(t, os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644))
	require.NoError(t, c.primary.Run())
}
