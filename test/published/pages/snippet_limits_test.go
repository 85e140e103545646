package pages

import (
	"context"
	"net/http"

	"github.com/redis/go-redis/v9"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

func limited() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{
		Policy: retry.Policy{Limiter: &ratelimit.Limiter{}},
	}}
	return client
}

func limitedPerKey(transport *retryhttp.Transport) {
	transport.PerScope = &retryhttp.PerScope{
		Scope: retryhttp.ByHost, // the host, and a hash of the Authorization
		New:   func(string) retry.Limiter { return &ratelimit.Limiter{} },
	}
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

var _ = []any{limited, limitedPerKey, limitedTokens, limitedTogether}
