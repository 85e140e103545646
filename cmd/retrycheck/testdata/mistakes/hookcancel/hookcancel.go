package hookcancel

import (
	"context"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func client() *http.Client {
	policy := retry.Policy{Hooks: retry.Hooks{
		OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
			return ctx, func(retry.Attempt) { cancel() } // not found
		},
	}}
	return &http.Client{Transport: &retryhttp.Transport{Policy: policy}}
}
