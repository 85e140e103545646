//go:build unix

package sql_test

import (
	"bytes"
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/test/testserver"
)

// withIdleLimit returns the URL of sessions that PostgreSQL ends if a transaction pauses for
// 300 ms.
func withIdleLimit(addr string) string {
	return testserver.PostgresURL(addr) + "&idle_in_transaction_session_timeout=300"
}

// limited lists the drivers with sessions of withIdleLimit.
var limited = map[string]func(testing.TB, string, int) database{
	"pgxpool":    pooled(withIdleLimit),
	"pgx stdlib": standard("pgx", withIdleLimit),
	"lib/pq":     standard("postgres", withIdleLimit),
}

// TestOnceStuck: if the first caller of a key hangs in fn, or its machine is gone, another
// caller gets the key when the server has ended the idle transaction. If the first caller
// then goes on, it gets the result of the other one.
func TestOnceStuck(t *testing.T) {
	for _, gone := range []bool{false, true} {
		for _, v := range variants {
			open := limited[v.name]
			if open == nil {
				continue
			}
			name := "hangs, "
			if gone {
				name = "gone, "
			}
			t.Run(name+v.name, func(t *testing.T) {
				addr := v.address(t)
				direct := v.connect(t, addr, 1)
				key := retrysql.Key{In: keysOf(t, v, direct), ID: "payment"}
				done := make(chan struct{})
				var cut atomic.Bool
				p := startProxy(t, addr, v.frames, func(m message) fault {
					if gone && m.toServer && bytes.Contains(m.bytes, []byte("UPDATE idempotency_key")) && cut.CompareAndSwap(false, true) {
						return fault{orphan: done} // the server's connection stays open
					}
					return fault{}
				})
				db := open(t, p.addr(), 1)
				began, finished := make(chan struct{}), make(chan struct{})
				begin := sync.OnceFunc(func() { close(began) })
				var first []byte
				var firstErr error
				go func() {
					defer close(finished)
					first, firstErr = once(t.Context(), db, quick, sql.LevelDefault, key, func(ctx context.Context, tx session) ([]byte, error) {
						if err := tx.exec(ctx, "INSERT INTO lost VALUES (1)"); err != nil {
							return nil, err
						}
						begin()
						if !gone {
							<-done
						}
						return []byte("of the first"), nil
					})
				}()
				<-began
				other := open(t, addr, 1)
				policy := quick
				policy.MaxAttempts = 1_000_000
				key.Wait = true
				second, err := once(t.Context(), other, policy, sql.LevelDefault, key, func(ctx context.Context, tx session) ([]byte, error) {
					return []byte("of the second"), tx.exec(ctx, "INSERT INTO lost VALUES (2)")
				})
				require.NoError(t, err)
				close(done)
				<-finished
				other.Close()
				db.Close()
				p.close()
				settleServer(t, v, direct)
				assert.Equal(t, 1, number(t, direct, "SELECT count(*) FROM lost"))
				if firstErr == nil {
					assert.Equal(t, string(second), string(first))
				} else {
					assert.True(t, gone, "%v", firstErr) // its attempts may be over before the key is free
				}
				if !gone {
					assert.Equal(t, "of the second", string(second))
					assert.Equal(t, 1, number(t, direct, "SELECT count(*) FROM lost WHERE id = 2"))
				}
			})
		}
	}
}

// TestOnceLimit: a session without a limit has one of a minute in Once, and none after it.
func TestOnceLimit(t *testing.T) {
	const setting = "SELECT setting::int FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'"
	for _, v := range variants[:3] { // of PostgreSQL
		t.Run(v.name, func(t *testing.T) {
			addr := v.address(t)
			key := retrysql.Key{In: keysOf(t, v, v.connect(t, addr, 1)), ID: "payment"}
			db := v.connect(t, addr, 1)
			limit := 0
			_, err := once(t.Context(), db, quick, sql.LevelDefault, key, func(ctx context.Context, tx session) (_ []byte, err error) {
				limit, err = tx.number(ctx, setting)
				return nil, err
			})
			require.NoError(t, err)
			assert.Equal(t, 60_000, limit)
			assert.Zero(t, number(t, db, setting))
		})
	}
}
