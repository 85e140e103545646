//go:build unix

package sql_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

// TestTerminated: the server ends sessions at any moment of their transactions.
func TestTerminated(t *testing.T) {
	var ended atomic.Int64
	for _, v := range variants {
		for name, ask := range asked {
			t.Run(v.name+name, func(t *testing.T) {
				addr := v.address(t)
				direct := v.connect(t, addr, 1)
				createBank(t, direct, 8)
				createKeys(t, v, direct)
				db := v.open(t, addr, 4)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					for ctx.Err() == nil {
						if terminateOne(ctx, v, direct) {
							ended.Add(1)
						}
						time.Sleep(3 * time.Millisecond)
					}
				}()
				policy := retry.Policy{MaxAttempts: 1000, Backoff: retry.FullJitter{Base: time.Millisecond, Cap: 10 * time.Millisecond}}
				sum := work{transactions: size(500), workers: 4, accounts: 8, policy: policy}.run(t.Context(), ask(db))
				cancel()
				<-done
				db.Close()
				settleServer(t, v, direct)
				sum.check(t, direct)
				assert.Empty(t, sum.failed, "%v", sum.failures)
				switch name {
				case ", asked":
					assert.Empty(t, sum.unknown)
				case ", keys": // each of a question's four statements may be terminated, too
					assert.LessOrEqual(t, len(sum.unknown), size(500)/100)
				}
			})
		}
	}
	t.Logf("%d sessions terminated", ended.Load())
	assert.NotZero(t, ended.Load())
}

// terminateOne ends a session, in PostgreSQL one that is not idle, and reports whether there
// was one.
func terminateOne(ctx context.Context, v variant, direct session) bool {
	if v.server == postgres {
		n, err := direct.number(ctx, `SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle' ORDER BY random() LIMIT 1) AS one`)
		return err == nil && n > 0
	}
	id, err := direct.number(ctx, `SELECT id FROM information_schema.processlist
		WHERE id <> connection_id() AND user <> 'system user' ORDER BY rand() LIMIT 1`)
	return err == nil && direct.exec(ctx, fmt.Sprintf("KILL %d", id)) == nil
}
