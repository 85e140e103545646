//go:build unix

package sql_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

// TestRedis: errors from a real Redis server have the right classes.
func TestRedis(t *testing.T) {
	addr := redisServer.Start(t)
	connect := func() *redis.Client {
		client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialTimeout: soon, ReadTimeout: soon})
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
	client, other := connect(), connect()
	for _, test := range []struct {
		name string
		fail func(ctx context.Context) error
		want retry.Class
	}{
		{"no such key", func(ctx context.Context) error { return client.Get(ctx, "none").Err() }, retry.ClassPermanent},
		{"wrong type", func(ctx context.Context) error {
			require.NoError(t, client.LPush(ctx, "list", 1).Err())
			return client.Incr(ctx, "list").Err()
		}, retry.ClassPermanent},
		{"replica", func(ctx context.Context) error {
			require.NoError(t, client.Do(ctx, "REPLICAOF", "127.0.0.1", "1").Err())
			defer func() { assert.NoError(t, client.Do(ctx, "REPLICAOF", "NO", "ONE").Err()) }()
			return client.Set(ctx, "key", 1, 0).Err()
		}, retry.ClassTransient},
		{"busy script", func(ctx context.Context) error {
			require.NoError(t, client.ConfigSet(ctx, "busy-reply-threshold", "1").Err())
			done := make(chan error)
			go func() { done <- other.Eval(ctx, "while true do end", nil).Err() }()
			defer func() { // a script without writes can be killed
				assert.Eventually(t, func() bool { return client.ScriptKill(ctx).Err() == nil }, soon, time.Millisecond)
				assert.Error(t, <-done)
			}()
			var err error
			require.Eventually(t, func() bool { err = client.Get(ctx, "none").Err(); return err != redis.Nil }, soon, time.Millisecond)
			return err
		}, retry.ClassTransient},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.fail(t.Context())
			require.Error(t, err)
			assert.Equal(t, test.want, retry.Policy{}.Classify(err).Class, "%v", err)
		})
	}
}

// TestWatch: a Redis transaction that fails because a watched key changed had no effect and
// can be retried.
func TestWatch(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: redisServer.Start(t), DialTimeout: soon, ReadTimeout: soon})
	defer func() { _ = client.Close() }()
	attempts := 0
	policy := quick
	policy.Classifier = retry.ClassifierFunc(func(err error) retry.Verdict {
		assert.Equal(t, redis.TxFailedErr, err)
		return retry.Verdict{Class: retry.ClassTransient}
	})
	require.NoError(t, retry.Do(t.Context(), policy, func(ctx context.Context) error {
		attempts++
		return client.Watch(ctx, func(tx *redis.Tx) error {
			n, err := tx.Get(ctx, "watched").Int()
			if err != nil && err != redis.Nil {
				return err
			}
			if attempts == 1 {
				require.NoError(t, client.Set(ctx, "watched", 10, 0).Err())
			}
			_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Set(ctx, "watched", n+1, 0).Err() })
			return err
		}, "watched")
	}))
	assert.Equal(t, 2, attempts)
	n, err := client.Get(t.Context(), "watched").Int()
	require.NoError(t, err)
	assert.Equal(t, 11, n)
}
