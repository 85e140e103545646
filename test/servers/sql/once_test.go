//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// once calls Once or OnceFunc.
func once(ctx context.Context, db database, policy retry.Policy, level sql.IsolationLevel, key retrysql.Key, fn func(context.Context, session) ([]byte, error)) ([]byte, error) {
	switch d := db.(type) {
	case pgxDatabase:
		begin := func(ctx context.Context) (pgx.Tx, error) {
			return d.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: isoLevels[level]})
		}
		return retrysql.OnceFunc(ctx, policy, begin, pgx.Tx.QueryRow, key,
			func(ctx context.Context, tx pgx.Tx) ([]byte, error) { return fn(ctx, pgxSession{tx}) })
	case sqlDatabase:
		return retrysql.Once(ctx, policy, d.db, &sql.TxOptions{Isolation: level}, key,
			func(ctx context.Context, tx *sql.Tx) ([]byte, error) { return fn(ctx, sqlSession{tx}) })
	}
	panic(fmt.Sprintf("%T", db))
}

var onceLevels = []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable}

// createKeys creates the table of keys.
func createKeys(t testing.TB, v variant, direct session) {
	t.Helper()
	for _, statement := range []string{"DROP TABLE IF EXISTS idempotency_key", v.table} {
		require.NoError(t, direct.exec(t.Context(), statement))
	}
}

// keysOf creates the table of keys, and one for the work.
func keysOf(t *testing.T, v variant, direct session) retrysql.Keys {
	t.Helper()
	createKeys(t, v, direct)
	createTable(t, direct, "lost", "id INT")
	return v.keys
}

// eachLevel calls test for each driver at each isolation level.
func eachLevel(t *testing.T, test func(t *testing.T, v variant, level sql.IsolationLevel, direct database, addr string, key retrysql.Key)) {
	for _, v := range keyVariants {
		for _, level := range onceLevels {
			t.Run(fmt.Sprint(v.name, ", ", level), func(t *testing.T) {
				addr := v.address(t)
				direct := v.connect(t, addr, 1)
				test(t, v, level, direct, addr, retrysql.Key{In: keysOf(t, v, direct), ID: "k\xff", Request: []byte("a")})
			})
		}
	}
}

func insertLost(ctx context.Context, tx session) ([]byte, error) {
	return []byte("done"), tx.exec(ctx, "INSERT INTO lost VALUES (1)")
}

// TestOnce: what a second call gets after the first one ended in each way.
func TestOnce(t *testing.T) {
	eachLevel(t, func(t *testing.T, v variant, level sql.IsolationLevel, direct database, addr string, key retrysql.Key) {
		db := v.connect(t, addr, 2)
		call := func(fn func(context.Context, session) ([]byte, error)) (string, error) {
			result, err := once(t.Context(), db, quick, level, key, fn)
			return string(result), err
		}
		failure := retry.Permanent(errors.New("failure"))
		_, err := call(func(ctx context.Context, tx session) ([]byte, error) {
			_, err := insertLost(ctx, tx)
			require.NoError(t, err)
			return []byte("failed"), failure
		})
		assert.ErrorIs(t, err, failure)
		assert.PanicsWithValue(t, "fn", func() {
			_, _ = call(func(ctx context.Context, tx session) ([]byte, error) {
				_, err := insertLost(ctx, tx)
				require.NoError(t, err)
				panic("fn")
			})
		})
		_, err = call(func(ctx context.Context, tx session) ([]byte, error) {
			_, err := insertLost(ctx, tx)
			return make([]byte, retrysql.MaxResult+1), err
		})
		assert.ErrorContains(t, err, "MaxResult")
		assert.Zero(t, number(t, direct, "SELECT count(*) FROM idempotency_key"))
		assert.Zero(t, number(t, direct, "SELECT count(*) FROM lost"))

		for range 2 {
			result, err := once(t.Context(), v.connect(t, addr, 1), quick, level, key, insertLost) // no session keeps a lock
			require.NoError(t, err)
			assert.Equal(t, "done", string(result))
		}
		key.Request = []byte("b")
		_, err = call(insertLost)
		assert.ErrorIs(t, err, retrysql.ErrOtherRequest)
		assert.Equal(t, 1, number(t, direct, "SELECT count(*) FROM lost"))
		run(t, direct, "DELETE FROM idempotency_key WHERE at < CURRENT_TIMESTAMP - INTERVAL '1' DAY")
		_, err = call(insertLost)
		assert.ErrorIs(t, err, retrysql.ErrOtherRequest)
		run(t, direct, "UPDATE idempotency_key SET at = CURRENT_TIMESTAMP - INTERVAL '25' HOUR",
			"DELETE FROM idempotency_key WHERE at < CURRENT_TIMESTAMP - INTERVAL '1' DAY")
		_, err = call(func(ctx context.Context, tx session) ([]byte, error) {
			_, err := insertLost(ctx, tx)
			return nil, err
		})
		require.NoError(t, err)
		result, err := once(t.Context(), db, quick, level, key, insertLost)
		require.NoError(t, err)
		assert.Equal(t, []byte{}, result)
		key.ID, key.Request = strings.Repeat("\xfe", 255), nil
		largest := strings.Repeat("\x00", retrysql.MaxResult)
		for range 2 {
			result, err := call(func(ctx context.Context, tx session) ([]byte, error) { return []byte(largest), nil })
			require.NoError(t, err)
			assert.True(t, result == largest)
		}
		assertReturned(t, db)
	})
}

// TestOnceAtOnce: of 64 calls with one key, one does the work. While it does, the others are
// told so, without waiting, from two pools that are smaller than they are many.
func TestOnceAtOnce(t *testing.T) {
	eachLevel(t, func(t *testing.T, v variant, level sql.IsolationLevel, direct database, addr string, key retrysql.Key) {
		pools := []database{v.connect(t, addr, 4), v.connect(t, addr, 4)}
		policy := quick
		policy.MaxAttempts = 1000
		for _, key.Wait = range []bool{false, true} {
			key.ID = fmt.Sprint("key ", key.Wait)
			var executions, refused, done atomic.Int64
			var others, all sync.WaitGroup
			others.Add(63)
			for i := range 64 {
				all.Go(func() {
					var counted bool
					count := sync.OnceFunc(others.Done)
					result, err := once(t.Context(), pools[i%2], policy, level, key, func(ctx context.Context, tx session) ([]byte, error) {
						executions.Add(1)
						counted = true
						if !key.Wait {
							others.Wait() // until all others have returned
						}
						return insertLost(ctx, tx)
					})
					if !counted {
						count()
					}
					switch {
					case err == nil:
						assert.Equal(t, "done", string(result))
						done.Add(1)
					case errors.Is(err, retrysql.ErrInProgress):
						refused.Add(1)
					default:
						assert.NoError(t, err)
					}
				})
			}
			all.Wait()
			assert.EqualValues(t, 1, executions.Load())
			if key.Wait {
				assert.EqualValues(t, 64, done.Load())
			} else {
				assert.EqualValues(t, 63, refused.Load())
			}
		}
		assert.Equal(t, 2, number(t, direct, "SELECT count(*) FROM lost"))
	})
}

// TestOnceLost: however a COMMIT is lost, the work is done once, and the call gets its result.
func TestOnceLost(t *testing.T) {
	eachLevel(t, func(t *testing.T, v variant, level sql.IsolationLevel, direct database, addr string, key retrysql.Key) {
		for i, test := range commitFaults {
			key.ID = fmt.Sprint("key ", i)
			p := startProxy(t, addr, v.frames, onceAtCommit(test.toServer, test.fault))
			db := v.open(t, p.addr(), 2)
			result, err := once(t.Context(), db, quick, level, key, insertLost)
			require.NoError(t, err, test.name)
			assert.Equal(t, "done", string(result))
			assert.EqualValues(t, 1, p.cuts.Load(), test.name)
			db.Close()
			p.close()
		}
		settleServer(t, v, direct)
		assert.Equal(t, len(commitFaults), number(t, direct, "SELECT count(*) FROM lost"))
	})
}

// TestOnceFaults: with connections cut at any message, calls that come several times with
// each key do its work once, and whoever gets a result gets that of the work.
func TestOnceFaults(t *testing.T) {
	eachLevel(t, func(t *testing.T, v variant, level sql.IsolationLevel, direct database, addr string, key retrysql.Key) {
		createTable(t, direct, "lost", "id INT, run INT")
		p := startProxy(t, addr, v.frames, randomFaults(*seed))
		db := v.open(t, p.addr(), 8)
		policy := quick
		policy.MaxAttempts = 1000
		var runs atomic.Int64
		var unknown atomic.Int64
		results := make([][]string, size(60))
		var mu sync.Mutex
		var workers sync.WaitGroup
		for worker := range 8 {
			workers.Go(func() {
				for id := range results {
					if (id+worker)%2 == 0 {
						continue // each key comes four times
					}
					key := key
					key.ID, key.Wait = fmt.Sprint("key ", id), true
					result, err := once(t.Context(), db, policy, level, key, func(ctx context.Context, tx session) ([]byte, error) {
						run := runs.Add(1)
						return fmt.Append(nil, run), tx.exec(ctx, fmt.Sprintf("INSERT INTO lost VALUES (%d, %d)", id, run))
					})
					if err != nil {
						assert.ErrorIs(t, err, retry.ErrUnrepeatable)
						unknown.Add(1)
						continue
					}
					mu.Lock()
					results[id] = append(results[id], string(result))
					mu.Unlock()
				}
			})
		}
		workers.Wait()
		db.Close()
		p.close()
		settleServer(t, v, direct)
		t.Logf("%d connections cut, %d runs of %d keys, %d unknown", p.cuts.Load(), runs.Load(), len(results), unknown.Load())
		assert.Equal(t, len(results), number(t, direct, "SELECT count(*) FROM lost"))
		assert.Equal(t, len(results), number(t, direct, "SELECT count(DISTINCT id) FROM lost"))
		assert.Zero(t, unknown.Load())
		for id, results := range results {
			for _, result := range results {
				assert.Equal(t, fmt.Sprint(number(t, direct, fmt.Sprintf("SELECT run FROM lost WHERE id = %d", id))), result)
			}
		}
	})
}

// TestOnceEmpty: work with an empty result is done once, although modernc's driver reads an
// empty blob as nil.
func TestOnceEmpty(t *testing.T) {
	keys := retrysql.Keys{
		Claim: "INSERT INTO idempotency_key (id, fingerprint) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
		Find:  "SELECT fingerprint, result FROM idempotency_key WHERE id = $1",
		Store: "UPDATE idempotency_key SET result = $1 WHERE id = $2",
	}
	for _, driver := range []string{"sqlite", "sqlite3"} { // modernc's and mattn's
		db, err := sql.Open(driver, filepath.Join(t.TempDir(), "db"))
		require.NoError(t, err)
		defer db.Close()
		_, err = db.ExecContext(t.Context(), retrysql.PostgresKeysTable)
		require.NoError(t, err)
		ran := 0
		for range 3 {
			key := retrysql.Key{In: keys, ID: "17", Request: []byte("request")}
			_, err := retrysql.Once(t.Context(), retry.Policy{}, db, nil, key, func(context.Context, *sql.Tx) ([]byte, error) {
				ran++
				return nil, nil
			})
			require.NoError(t, err)
		}
		assert.Equal(t, 1, ran, driver)
	}
}
