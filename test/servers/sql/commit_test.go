//go:build unix

package sql_test

import (
	"bytes"
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

var quick = retry.Policy{
	MaxAttempts:    30,
	Backoff:        retry.FullJitter{Base: time.Millisecond, Cap: 10 * time.Millisecond},
	AttemptTimeout: soon,
}

// commitFaults lists the points around COMMIT at which a connection can end.
var commitFaults = []struct {
	name      string
	toServer  bool
	fault     fault
	committed int // the number of rows; -1 means 0 or 1
}{
	{"before COMMIT", true, fault{cut: before}, 0},
	{"before COMMIT, reset", true, fault{cut: before, reset: true}, 0},
	{"within COMMIT", true, fault{cut: within}, 0},
	{"right after COMMIT", true, fault{cut: after}, -1},
	{"right after COMMIT, reset", true, fault{cut: after, reset: true}, -1},
	{"before the response", true, fault{swallow: true}, 1},
	{"within the response", false, fault{cut: within}, 1},
	{"within the response, reset", false, fault{cut: within, reset: true}, 1},
}

// TestLostCommit: a transaction whose connection is lost at COMMIT does not run again.
func TestLostCommit(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			addr := v.address(t)
			direct := v.connect(t, addr, 1)
			for _, test := range commitFaults {
				t.Run(test.name, func(t *testing.T) {
					createTable(t, direct, "lost", "id INT")
					once := onceAtCommit(test.toServer, test.fault)
					p := startProxy(t, addr, v.frames, once)
					db := v.open(t, p.addr(), 1)
					attempts := 0
					err := db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
						attempts++
						return tx.exec(ctx, "INSERT INTO lost VALUES (1)")
					})
					require.ErrorIs(t, err, retry.ErrUnrepeatable)
					giveUp := new(retry.Error)
					require.ErrorAs(t, err, &giveUp)
					assert.Equal(t, retry.ErrUnrepeatable, giveUp.Reason)
					assert.Equal(t, 1, attempts)
					assert.EqualValues(t, 1, p.cuts.Load())
					assert.NoError(t, db.exec(t.Context(), "SELECT 1"), "the pool recovers")
					db.Close()
					p.close()
					settleServer(t, v, direct)
					if test.committed >= 0 {
						assert.Equal(t, test.committed, number(t, direct, "SELECT count(*) FROM lost"))
					}
				})
			}
		})
	}
}

// TestLostCommitWithoutRule shows that the faults of TestLostCommit are effective: without
// a rule for COMMIT, a retry writes the row twice.
func TestLostCommitWithoutRule(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			addr := v.address(t)
			direct := v.connect(t, addr, 1)
			createTable(t, direct, "lost", "id INT")
			p := startProxy(t, addr, v.frames, onceAtCommit(true, fault{swallow: true}))
			db := v.open(t, p.addr(), 1)
			defer db.Close()
			careless := quick
			careless.Classifier = retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassTransient} })
			require.NoError(t, retry.Do(t.Context(), careless, func(ctx context.Context) error {
				return db.once(ctx, func(ctx context.Context, tx session) error {
					return tx.exec(ctx, "INSERT INTO lost VALUES (1)")
				})
			}))
			assert.Equal(t, 2, number(t, direct, "SELECT count(*) FROM lost"))
		})
	}
}

// TestSafeToRetry: if the connection is lost before the response, pgx reports a statement
// as safe to retry although it has taken effect. InTx therefore relies on such reports only
// before COMMIT.
func TestSafeToRetry(t *testing.T) {
	v := variants[0]
	addr := v.address(t)
	direct := v.connect(t, addr, 1)
	for _, statement := range []string{"insert into lost values (1)", "commit"} {
		t.Run(statement, func(t *testing.T) {
			createTable(t, direct, "lost", "id INT")
			p := startProxy(t, addr, v.frames, func(m message) fault {
				return fault{swallow: m.toServer && bytes.Contains(m.bytes, []byte(statement))}
			})
			db := v.open(t, p.addr(), 1).(pgxDatabase)
			defer db.Close()
			var err error
			if statement == "commit" {
				err = db.once(t.Context(), func(ctx context.Context, tx session) error { return tx.exec(ctx, "INSERT INTO lost VALUES (1)") })
			} else {
				err = db.exec(t.Context(), statement)
			}
			require.Error(t, err)
			assert.True(t, pgconn.SafeToRetry(err), "pgx no longer reports the error as safe to retry: %v", err)
			assert.Equal(t, 1, number(t, direct, "SELECT count(*) FROM lost"))
		})
	}
}

// onceAtCommit plans a fault for the first COMMIT or its response.
func onceAtCommit(toServer bool, f fault) func(message) fault {
	var done atomic.Bool
	return func(m message) fault {
		if m.commit && m.toServer == toServer && done.CompareAndSwap(false, true) {
			return f
		}
		return fault{}
	}
}

// settleServer waits until direct has the server's only connection: then no transaction is
// being processed.
func settleServer(t *testing.T, v variant, direct session) {
	t.Helper()
	query := "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
	if v.server != postgres {
		query = "SELECT count(*) FROM information_schema.processlist WHERE id <> connection_id() AND user NOT IN ('system user', 'event_scheduler')"
	}
	require.Eventually(t, func() bool {
		n, err := direct.number(t.Context(), query)
		return err == nil && n == 0
	}, soon, 5*time.Millisecond)
}
