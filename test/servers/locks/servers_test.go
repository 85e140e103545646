//go:build unix

package locks

import (
	"context"
	"database/sql"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/test/testserver"
)

const soon = 30 * time.Second

var postgresServer = testserver.Postgres(func(ctx context.Context, addr string) error {
	db, err := sql.Open("pgx", testserver.PostgresURL(addr))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.PingContext(ctx)
})

var redisServer = testserver.Redis(func(ctx context.Context, addr string) error {
	client := newRedis(addr)
	defer func() { _ = client.Close() }()
	return client.Ping(ctx).Err()
})

func newRedis(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true})
}

func TestMain(m *testing.M) {
	code := m.Run()
	postgresServer.Clean()
	redisServer.Clean()
	os.Exit(code)
}

// A store is a server that keeps leases.
type store struct {
	server *testserver.Program
	open   func(t *testing.T, addr string) func(name string) Lease
}

var stores = map[string]store{
	"Redis": {redisServer, func(t *testing.T, addr string) func(string) Lease {
		client := newRedis(addr)
		t.Cleanup(func() { _ = client.Close() })
		require.NoError(t, client.FlushAll(t.Context()).Err())
		return func(name string) Lease { return Redis{client, name} }
	}},
	"PostgreSQL": {postgresServer, func(t *testing.T, addr string) func(string) Lease {
		db, err := sql.Open("pgx", testserver.PostgresURL(addr))
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		_, err = db.ExecContext(t.Context(), "DROP TABLE IF EXISTS lease; "+PostgresTable)
		require.NoError(t, err)
		return func(name string) Lease { return Postgres{db, name} }
	}},
}

// TestStores: what each call does, for each holder.
func TestStores(t *testing.T) {
	for name, s := range stores {
		t.Run(name, func(t *testing.T) {
			leases := s.open(t, s.server.Start(t))
			lease := leases("report")
			acquire := func(token string, ttl time.Duration, want int64) {
				t.Helper()
				fence, err := lease.Acquire(t.Context(), token, ttl)
				require.NoError(t, err)
				assert.Equal(t, want, fence)
			}
			renew := func(token string, want bool) {
				t.Helper()
				held, err := lease.Renew(t.Context(), token, time.Minute)
				require.NoError(t, err)
				assert.Equal(t, want, held)
			}
			renew("a", false)
			acquire("a", time.Minute, 1)
			acquire("a", time.Minute, 1)
			acquire("b", time.Minute, 0)
			renew("a", true)
			renew("b", false)
			require.NoError(t, lease.Release(t.Context(), "b"))
			acquire("b", time.Minute, 0)
			require.NoError(t, lease.Release(t.Context(), "a"))
			require.NoError(t, lease.Release(t.Context(), "a"))
			renew("a", false)
			acquire("b", time.Millisecond, 2)
			require.Eventually(t, func() bool {
				fence, err := lease.Acquire(t.Context(), "c", time.Minute)
				return assert.NoError(t, err) && fence == 3
			}, soon, time.Millisecond, "the lease of b ends")
			renew("b", false)
			acquire("c", time.Millisecond, 3)
			require.Eventually(t, func() bool {
				held, err := lease.Renew(t.Context(), "c", time.Millisecond)
				if held {
					time.Sleep(2 * time.Millisecond)
				}
				return assert.NoError(t, err) && !held
			}, soon, time.Millisecond, "a lease that has ended is not renewed")
			other, err := leases("other").Acquire(t.Context(), "a", time.Minute)
			require.NoError(t, err)
			assert.EqualValues(t, 1, other)
		})
	}
}

// TestExclusive: many want the same lease at the same time. Each has it alone, and has a higher
// fence than the one before.
func TestExclusive(t *testing.T) {
	policy := retry.Policy{MaxElapsed: soon, Backoff: retry.FullJitter{Base: time.Millisecond, Cap: 10 * time.Millisecond}}
	for name, s := range stores {
		t.Run(name, func(t *testing.T) {
			lease := s.open(t, s.server.Start(t))("one")
			var inside atomic.Int64
			var mu sync.Mutex
			var fences []int64
			var clients sync.WaitGroup
			for range 8 {
				clients.Go(func() {
					for range 5 {
						assert.NoError(t, Hold(t.Context(), policy, lease, soon, func(_ context.Context, fence int64) error {
							assert.EqualValues(t, 1, inside.Add(1))
							mu.Lock()
							fences = append(fences, fence)
							mu.Unlock()
							time.Sleep(time.Millisecond)
							inside.Add(-1)
							return nil
						}))
					}
				})
			}
			clients.Wait()
			require.Len(t, fences, 40)
			for n, fence := range fences {
				assert.EqualValues(t, n+1, fence)
			}
		})
	}
}

// TestServerStops: work is canceled if the server that has its lease is gone.
func TestServerStops(t *testing.T) {
	for name, s := range stores {
		t.Run(name, func(t *testing.T) {
			lease := s.open(t, s.server.Start(t))("stop")
			err := Hold(t.Context(), retry.Policy{}, lease, 2*time.Second, func(ctx context.Context, _ int64) error {
				require.NoError(t, s.server.Stop(s.server.Signal))
				<-ctx.Done()
				return ctx.Err()
			})
			assert.ErrorIs(t, err, ErrLost)
			assert.ErrorIs(t, err, context.Canceled)
			require.NoError(t, s.server.Run())
		})
	}
}
