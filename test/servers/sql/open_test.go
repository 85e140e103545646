//go:build unix

package sql_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/test/testserver"
)

// sessions lists what a database's URL can say about isolation and time limits. LIMIT
// stands for a number of seconds.
var sessions = map[*testserver.Program]struct{ levels, limits []string }{
	postgres: {
		levels: []string{"read%20uncommitted", "read%20committed", "repeatable%20read", "serializable"},
		limits: []string{"", "&statement_timeout=LIMITs", "&lock_timeout=LIMITs", "&idle_in_transaction_session_timeout=LIMITs"},
	},
	mariadb: {
		levels: []string{"%27READ-UNCOMMITTED%27", "%27READ-COMMITTED%27", "%27REPEATABLE-READ%27", "%27SERIALIZABLE%27"},
		limits: []string{"", "&readTimeout=LIMITs", "&max_statement_time=LIMIT", "&innodb_lock_wait_timeout=0", "&innodb_lock_wait_timeout=1"},
	},
}

// withSession returns a URL like url, with a level and a limit of sessions.
func withSession(url func(addr string) string, level, limit string) func(addr string) string {
	return func(addr string) string {
		if url := url(addr); strings.Contains(url, "?") {
			return url + "&default_transaction_isolation=" + level + limit
		}
		return url(addr) + "?interpolateParams=true&tx_isolation=" + level + limit
	}
}

// TestOpenTransaction: the client loses its connection at COMMIT, which the server does not
// receive. The transaction stays open until the question has seen it, and is then rolled
// back: it must not be taken for a committed one.
func TestOpenTransaction(t *testing.T) {
	for _, test := range []struct {
		name string
		v    variant
		open func(level, limit string) func(testing.TB, string, int) database
	}{
		{"pgxpool", variants[0], func(level, limit string) func(testing.TB, string, int) database {
			return pooled(withSession(testserver.PostgresURL, level, limit))
		}},
		{"pgx stdlib", variants[1], func(level, limit string) func(testing.TB, string, int) database {
			return standard("pgx", withSession(testserver.PostgresURL, level, limit))
		}},
		{"lib/pq, keys that wait", variants[2], func(level, limit string) func(testing.TB, string, int) database {
			return func(t testing.TB, addr string, connections int) database {
				db := standard("postgres", withSession(testserver.PostgresURL, level, limit))(t, addr, connections).(sqlDatabase)
				db.keys = waitingKeys
				return db
			}
		}},
		{"go-sql-driver", variants[3], func(level, limit string) func(testing.TB, string, int) database {
			return standard("mysql", withSession(mariadbURL, level, limit))
		}},
	} {
		for _, level := range sessions[test.v.server].levels {
			for _, limit := range sessions[test.v.server].limits {
				t.Run(fmt.Sprint(test.name, " ", level, limit), func(t *testing.T) {
					for seconds := 0.02; ; seconds *= 5 { // a machine that stalls may exceed the limit before COMMIT
						limit := strings.ReplaceAll(limit, "LIMIT", fmt.Sprint(seconds))
						err := loseOpenTransaction(t, test.v, test.open(level, limit), time.Duration(seconds*float64(time.Second)))
						if err == nil {
							break
						}
						require.Less(t, seconds, 10.0, "%v", err)
					}
				})
			}
		}
	}
}

// loseOpenTransaction returns the error of a transaction whose COMMIT is lost. If it is nil,
// the row of the transaction has to be there.
func loseOpenTransaction(t *testing.T, v variant, open func(testing.TB, string, int) database, limit time.Duration) error {
	addr := v.address(t)
	direct := v.connect(t, addr, 1)
	createTable(t, direct, "lost", "id INT")
	createKeys(t, v, direct)
	var lost, asked atomic.Bool
	end := make(chan struct{})
	endOnce := sync.OnceFunc(func() { close(end) })
	defer endOnce()
	p := startProxy(t, addr, v.frames, func(m message) fault {
		switch {
		case m.commit && m.toServer && lost.CompareAndSwap(false, true):
			time.AfterFunc(5*limit, endOnce) // if it cannot be seen
			return fault{orphan: end}
		case m.toServer && (lost.Load() && bytes.Contains(m.bytes, []byte("idempotency_key")) || bytes.Contains(m.bytes, []byte("pg_xact_status"))):
			asked.Store(true)
		case !m.toServer && asked.Load():
			endOnce()
		}
		return fault{}
	})
	db := asking{open(t, p.addr(), 2)}
	err := db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
		return tx.exec(ctx, "INSERT INTO lost VALUES (1)")
	})
	endOnce()
	db.Close()
	p.close()
	settleServer(t, v, direct)
	if err == nil {
		assert.True(t, lost.Load())
		assert.Equal(t, 1, number(t, direct, "SELECT count(*) FROM lost"))
	}
	return err
}
