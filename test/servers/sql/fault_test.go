//go:build unix

package sql_test

import (
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var seed = flag.Uint64("seed", 1, "seed of the faults")

// TestFaults: although connections end, stall or are reset at any message, most often at
// COMMIT, no transaction commits twice, and each outcome is reported correctly. If the
// database is asked, none remains unknown.
func TestFaults(t *testing.T) {
	for _, v := range variants {
		for name, ask := range asked {
			t.Run(v.name+name, func(t *testing.T) {
				addr := v.address(t)
				direct := v.connect(t, addr, 1)
				const accounts = 8
				createBank(t, direct, accounts)
				createKeys(t, v, direct)
				p := startProxy(t, addr, v.frames, randomFaults(*seed))
				db := v.open(t, p.addr(), 4)
				policy := quick
				policy.AttemptTimeout = 100 * time.Millisecond
				sum := work{transactions: size(200), workers: 4, accounts: accounts, policy: policy}.run(t.Context(), ask(db))
				db.Close()
				p.close()
				settleServer(t, v, direct)
				t.Logf("%d connections cut", p.cuts.Load())
				sum.check(t, direct)
				assert.NotEmpty(t, sum.acked)
				assert.Greater(t, sum.attempts.Load(), int64(len(sum.acked)))
				assert.Equal(t, name != "", len(sum.unknown) == 0, "%d unknown", len(sum.unknown))
			})
		}
	}
}

// randomFaults plans a fault for one message in 100, one COMMIT in 5, and one response to
// COMMIT in 10.
func randomFaults(seed uint64) func(message) fault {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, seed))
	return func(m message) fault {
		mu.Lock()
		defer mu.Unlock()
		share := 0.01
		switch {
		case m.commit && m.toServer:
			share = 0.2
		case m.commit:
			share = 0.1
		}
		if random.Float64() >= share {
			return fault{}
		}
		switch kind := random.IntN(10); {
		case kind == 0: // longer than AttemptTimeout, but COMMIT still arrives
			return fault{delay: 150 * time.Millisecond}
		case kind == 1:
			return fault{delay: time.Duration(random.IntN(int(5 * time.Millisecond)))}
		case kind <= 3 && m.commit && m.toServer:
			return fault{swallow: true}
		}
		return fault{cut: before + cut(random.IntN(3)), reset: random.IntN(2) == 0}
	}
}
