//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/test/testserver"
)

// resetting is a pgx pool that is reset when its server is not the primary any more.
type resetting struct {
	pgxDatabase
	begin func(context.Context) (pgx.Tx, error)
}

func (d resetting) inTx(ctx context.Context, p retry.Policy, _ sql.IsolationLevel, fn func(context.Context, session) error) error {
	return retrysql.InTxFunc(ctx, p, d.begin, func(ctx context.Context, tx pgx.Tx) error { return fn(ctx, pgxSession{tx}) })
}

// TestStalePool: every connection of a pool leads to a server that has become read-only, has
// shut down, or was killed, while the address leads to another server already. Three
// attempts suffice.
func TestStalePool(t *testing.T) {
	policy := retry.Policy{MaxAttempts: 3, Backoff: retry.FullJitter{Base: 10 * time.Millisecond}}
	old := testserver.Postgres(pings("postgres", testserver.PostgresURL))
	oldAddr := old.Start(t)
	t.Cleanup(old.Clean)
	for _, v := range variants[:3] { // of PostgreSQL
		for _, connections := range []int{1, 8, 30} {
			for _, how := range []string{"read-only", "shutdown", "killed"} {
				if how == "read-only" && v.name == "lib/pq" {
					continue // its BEGIN READ WRITE overrides the setting, but not a replica's mode: see TestFailover
				}
				t.Run(fmt.Sprint(v.name, " ", connections, " ", how), func(t *testing.T) {
					addr := v.address(t)
					createTable(t, v.connect(t, addr, 1), "lost", "id INT")
					onOld := v.connect(t, oldAddr, 1)
					require.EventuallyWithT(t, func(c *assert.CollectT) {
						assert.NoError(c, onOld.exec(t.Context(), "SELECT 1"))
						n, err := onOld.number(t.Context(), "SELECT (current_setting('default_transaction_read_only') = 'off')::int")
						assert.NoError(c, err)
						assert.Equal(c, 1, n)
					}, soon, 5*time.Millisecond)
					createTable(t, onOld, "lost", "id INT")
					p := startProxy(t, oldAddr, v.frames, func(message) fault { return fault{} })
					db := v.open(t, p.addr(), connections)
					defer db.Close()
					if pool, ok := db.(pgxDatabase); ok {
						db = resetting{pool, beginOf(pool.pool)}
					}
					fillPool(t, db, connections)
					p.lead(addr)
					switch how {
					case "read-only":
						run(t, onOld, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
						until(t, onOld, "SELECT (current_setting('default_transaction_read_only') = 'on')::int")
						defer run(t, onOld, "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
					case "shutdown":
						require.NoError(t, old.Stop("INT"))
						defer func() { assert.NoError(t, old.Run()) }()
					case "killed":
						require.NoError(t, old.Stop("QUIT"))
						defer func() { assert.NoError(t, old.Run()) }()
					}
					call := func() {
						assert.NoError(t, db.inTx(t.Context(), policy, sql.LevelDefault, func(ctx context.Context, tx session) error {
							return tx.exec(ctx, "INSERT INTO lost VALUES (1)")
						}))
					}
					call() // its attempts meet all other connections idle
					var workers sync.WaitGroup
					for range connections {
						workers.Go(call)
					}
					workers.Wait()
					assert.Equal(t, 1+connections, number(t, v.connect(t, addr, 1), "SELECT count(*) FROM lost"))
				})
			}
		}
	}
}

// fillPool opens all connections of a pool.
func fillPool(t *testing.T, db database, connections int) {
	t.Helper()
	var ready, open sync.WaitGroup
	ready.Add(connections)
	for range connections {
		open.Go(func() {
			assert.NoError(t, db.once(t.Context(), func(ctx context.Context, tx session) error {
				_, err := tx.number(ctx, "SELECT 1")
				ready.Done()
				ready.Wait()
				return err
			}))
		})
	}
	open.Wait()
}
