package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is a Lease in one Redis server. A failover to a replica may lose it, and its fence, because
// Redis replicates later than it answers.
type Redis struct {
	Client *redis.Client // with MaxRetries -1 and ContextTimeoutEnabled
	Name   string
}

var acquireRedis = redis.NewScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if holder then return tonumber(redis.call('GET', KEYS[2])) end
return redis.call('INCR', KEYS[2])`)

var renewRedis = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

var releaseRedis = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`)

// Acquire implements Lease.
func (l Redis) Acquire(ctx context.Context, token string, ttl time.Duration) (int64, error) {
	return acquireRedis.Run(ctx, l.Client, l.keys(), token, ttl.Milliseconds()).Int64()
}

// Renew implements Lease.
func (l Redis) Renew(ctx context.Context, token string, ttl time.Duration) (bool, error) {
	return renewRedis.Run(ctx, l.Client, l.keys(), token, ttl.Milliseconds()).Bool()
}

// Release implements Lease.
func (l Redis) Release(ctx context.Context, token string) error {
	return releaseRedis.Run(ctx, l.Client, l.keys(), token).Err()
}

// keys returns the key of the lease and that of its fence, which are on one node of a cluster.
func (l Redis) keys() []string {
	return []string{"{" + l.Name + "}:lease", "{" + l.Name + "}:fence"}
}
