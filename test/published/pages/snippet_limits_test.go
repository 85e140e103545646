package pages

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

func limited() *http.Client {
	client := retryhttp.NewClient(retry.Policy{})
	return client
}

func limitedHandler(w http.ResponseWriter, err error) {
	var usedUp *ratelimit.UsedUpError
	if errors.As(err, &usedUp) {
		w.Header().Set("Retry-After", strconv.Itoa(int(usedUp.After.Seconds())+1))
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
}

type delayer interface{ NakWithDelay(time.Duration) error }

func limitedConsumer(message delayer, err error) error {
	var usedUp *ratelimit.UsedUpError
	if errors.As(err, &usedUp) {
		return message.NakWithDelay(usedUp.After) // of NATS JetStream; other queues have something like it
	}
	return err
}

func limitedPolicy() retry.Policy {
	policy := retry.Policy{Limiter: &ratelimit.Limiter{}}
	return policy
}

func limitedTokens(ctx context.Context, promptTokens, maxTokens int) context.Context {
	ctx = ratelimit.WithCost(ctx, float64(promptTokens+maxTokens))
	return ctx
}

func limitedTogether(rdb *redis.Client) *ratelimit.Limiter {
	limiter := &ratelimit.Limiter{
		Limit: ratelimit.Limit{Rate: 50, Burst: 100}, // calls in a second, and at once
		Key:   "api.example.com",
		Store: ratelimit.Redis{Eval: func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
			return rdb.Eval(ctx, script, keys, args...).Result() // go-redis
		}},
	}
	return limiter
}

var _ = []any{limited, limitedHandler, limitedConsumer, limitedPolicy, limitedTokens, limitedTogether}
