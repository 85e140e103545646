package limits

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/test/testserver"
)

var redisServer = testserver.Redis(func(ctx context.Context, addr string) error {
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	return client.Ping(ctx).Err()
})

func TestMain(m *testing.M) {
	if addr := os.Getenv("LIMITS_REDIS"); addr != "" {
		work(addr, os.Getenv("LIMITS_CLIENT"))
		return
	}
	code := m.Run()
	redisServer.Clean()
	os.Exit(code)
}

// stores makes a Store with each client, as the page shows it.
var stores = map[string]func(addr string) (ratelimit.Store, error){
	"go-redis": func(addr string) (ratelimit.Store, error) {
		client := redis.NewClient(&redis.Options{Addr: addr})
		store := ratelimit.Redis{Eval: func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
			return client.Eval(ctx, script, keys, args...).Result()
		}}
		return store, nil
	},
	"rueidis": func(addr string) (ratelimit.Store, error) {
		client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}})
		if err != nil {
			return nil, err
		}
		store := ratelimit.Redis{Eval: func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
			texts := make([]string, len(args))
			for i, arg := range args {
				texts[i] = fmt.Sprint(arg)
			}
			return client.Do(ctx, client.B().Eval().Script(script).Numkeys(int64(len(keys))).Key(keys...).Arg(texts...).Build()).ToAny()
		}}
		return store, nil
	},
}

func store(t *testing.T, client, addr string) ratelimit.Store {
	s, err := stores[client](addr)
	require.NoError(t, err)
	return s
}

// each runs a test with each client.
func each(t *testing.T, test func(t *testing.T, s ratelimit.Store, key string)) {
	addr := redisServer.Start(t)
	for client := range stores {
		t.Run(client, func(t *testing.T) {
			test(t, store(t, client, addr), t.Name()+time.Now().String())
		})
	}
}

// TestTake: a burst is available at once, the rest at the rate, and what is returned at once.
func TestTake(t *testing.T) {
	each(t, func(t *testing.T, s ratelimit.Store, key string) {
		limit := ratelimit.Limit{Rate: 0.01, Burst: 5}
		take := func(n float64) time.Duration {
			wait, processes, err := s.Take(t.Context(), key, limit, n)
			require.NoError(t, err)
			assert.Equal(t, 1, processes)
			return wait
		}
		const slack = 90 * time.Second // of a machine that stalls; a unit takes 100 s
		assert.LessOrEqual(t, take(5), time.Duration(0))
		assert.InDelta(t, 200*time.Second, take(2), float64(slack))
		assert.InDelta(t, 50*time.Second, take(-1.5), float64(slack))
	})
}

func TestEmpty(t *testing.T) {
	each(t, func(t *testing.T, s ratelimit.Store, key string) {
		limit := ratelimit.Limit{Rate: 1000, Burst: 1000}
		require.NoError(t, s.Empty(t.Context(), key, limit, time.Hour))
		wait, _, err := s.Take(t.Context(), key, limit, 1)
		require.NoError(t, err)
		assert.InDelta(t, time.Hour, wait, float64(10*time.Minute))
	})
}

const (
	processes = 5
	callsEach = 40
)

var shared = ratelimit.Limit{Rate: 100, Burst: 10}

// work is one of the processes. It prints a line for each call.
func work(addr, client string) {
	s, err := stores[client](addr)
	if err != nil {
		panic(err)
	}
	l := &ratelimit.Limiter{Limit: shared, Store: s, Key: os.Getenv("LIMITS_KEY")}
	l.Hear(l.Begin(context.Background()), ratelimit.Response{OK: true})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range callsEach / 8 {
				if l.Wait(context.Background()) == nil {
					fmt.Println("begun")
				}
			}
		})
	}
	wg.Wait()
}

// TestProcesses: processes keep a limit together, whatever becomes of the server.
func TestProcesses(t *testing.T) {
	addr := redisServer.Start(t)
	for name, during := range map[string]func(){
		"available": func() {},
		"hangs": func() {
			client := redis.NewClient(&redis.Options{Addr: addr})
			defer client.Close()
			assert.NoError(t, client.Do(t.Context(), "CLIENT", "PAUSE", "2000", "ALL").Err())
		},
		"killed": func() {
			assert.NoError(t, redisServer.Stop("KILL"))
		},
	} {
		for client := range stores {
			t.Run(name+" "+client, func(t *testing.T) {
				var wg sync.WaitGroup
				begun := make(chan bool, processes*callsEach)
				start := time.Now()
				key := name + client + start.String()
				for range processes {
					cmd := exec.Command(os.Args[0])
					cmd.Env = append(os.Environ(), "LIMITS_REDIS="+addr, "LIMITS_CLIENT="+client, "LIMITS_KEY="+key)
					out, err := cmd.StdoutPipe()
					require.NoError(t, err)
					require.NoError(t, cmd.Start())
					wg.Go(func() {
						lines := bufio.NewScanner(out)
						for lines.Scan() {
							begun <- true
						}
						assert.NoError(t, cmd.Wait())
					})
				}
				for range 2 * processes * 8 { // each process knows of the others
					<-begun
				}
				during()
				wg.Wait()
				took := time.Since(start)
				t.Logf("200 calls in %v", took)
				assert.Len(t, begun, processes*(callsEach-2*8), "all the others")
				assert.Greater(t, took, 1400*time.Millisecond, "200 calls at 100 a second")
				if name == "killed" {
					require.NoError(t, redisServer.Run())
				}
				require.NoError(t, store(t, client, addr).Empty(context.Background(), key, shared, 0), "the pause is over")
			})
		}
	}
}
