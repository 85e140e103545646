package recipes

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/gobackoff/retry"
)

// NewRedis returns a client that does not retry, for calls within retry.Do.
func NewRedis(address string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1}) // 0 means 3
}

// Lookup reads a key. It reports false if there is none.
func Lookup(ctx context.Context, policy retry.Policy, client *redis.Client, key string) (value string, ok bool, err error) {
	value, err = retry.DoValue(ctx, policy, func(ctx context.Context) (string, error) {
		return client.Get(ctx, key).Result()
	})
	if errors.Is(err, redis.Nil) {
		return "", false, nil
	}
	return value, err == nil, err
}
