package ratelimit

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"
)

// Redis is a [Store] in Redis or Valkey. The processes need no common clock: the clock of the
// Redis server counts. It keeps two small keys for each Key, which expire by themselves.
type Redis struct {
	// Eval evaluates a Lua script with a client of your choice, such as go-redis:
	//
	//	func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
	//		return client.Eval(ctx, script, keys, args...).Result()
	//	}
	//
	// The script returns a list of two whole numbers, or one.
	Eval func(ctx context.Context, script string, keys []string, args ...any) (any, error)
}

// process names this process.
var process = rand.Text()

// In both scripts, KEYS[1] has the time in microseconds when all units are available again. The
// keys have one hash tag, so a cluster has both on one node.
const (
	takeScript = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local per, burst, n = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + n * per
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.max(1, math.ceil((full - now) / 1000)))
redis.call('ZADD', KEYS[2], now, ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 10000000)
redis.call('PEXPIRE', KEYS[2], 11000)
return {math.ceil(full - burst * per - now), redis.call('ZCARD', KEYS[2])}`

	emptyScript = `
local t = redis.call('TIME')
local full = t[1] * 1000000 + t[2] + tonumber(ARGV[1])
if tonumber(redis.call('GET', KEYS[1]) or 0) < full then
	redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.max(1, math.ceil(tonumber(ARGV[1]) / 1000)))
end
return 0`
)

// Take implements [Store].
func (r Redis) Take(ctx context.Context, key string, l Limit, n float64) (wait time.Duration, processes int, err error) {
	answer, err := r.Eval(ctx, takeScript, keys(key), decimal(1e6/l.Rate), decimal(max(1, l.Burst)), decimal(n), process)
	if err != nil {
		return 0, 0, err
	}
	list, ok := answer.([]any)
	if !ok || len(list) != 2 {
		return 0, 0, fmt.Errorf("ratelimit: the script returned %v instead of two numbers", answer)
	}
	micros, ok1 := list[0].(int64)
	count, ok2 := list[1].(int64)
	if !ok1 || !ok2 {
		return 0, 0, fmt.Errorf("ratelimit: the script returned %T and %T instead of two numbers", list[0], list[1])
	}
	return time.Duration(micros) * time.Microsecond, int(count), nil
}

// Empty implements [Store].
func (r Redis) Empty(ctx context.Context, key string, l Limit, d time.Duration) error {
	_, err := r.Eval(ctx, emptyScript, keys(key), decimal(float64(d.Microseconds()+int64(max(1, l.Burst)*1e6/l.Rate))))
	return err
}

func keys(key string) []string {
	return []string{"{ratelimit:" + key + "}", "{ratelimit:" + key + "}:processes"}
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
