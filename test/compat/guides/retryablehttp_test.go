package guides

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// server answers with 503 while op fails.
type server struct{ op operation }

func (s server) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: req}
	if err := s.op(req.Context()); errors.Is(err, errBusy) {
		resp.StatusCode = 503
	} else if err != nil {
		resp.StatusCode = 500
	}
	return resp, nil
}

func get(ctx context.Context, do func(*http.Request) (*http.Response, error)) error {
	req, err := http.NewRequestWithContext(ctx, "GET", "http://example.com", nil)
	if err != nil {
		return err
	}
	resp, err := do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func hashicorp(ctx context.Context, op operation, change func(*retryablehttp.Client)) error {
	client := retryablehttp.NewClient()
	client.HTTPClient, client.Logger = &http.Client{Transport: server{op}}, nil
	change(client)
	return get(ctx, client.StandardClient().Do)
}

// transport is a call through a Transport with the waits and attempts of a
// retryablehttp.Client, unless the policy has others.
func transport(ctx context.Context, op operation, p retry.Policy) error {
	if p.Backoff == nil {
		p.Backoff, p.MaxAttempts = retry.Exponential{Base: sec, Cap: 30 * sec}, 5
	}
	p.Budget = retry.NoBudget{}
	t := &retryhttp.Transport{Base: server{op}, Policy: p}
	return get(ctx, (&http.Client{Transport: t}).Do)
}

var retryablehttpRows = []row{{
	what: "the defaults",
	before: func(ctx context.Context, op operation) error {
		return hashicorp(ctx, op, func(*retryablehttp.Client) {})
	},
	after: func(ctx context.Context, op operation) error {
		return transport(ctx, op, retry.Policy{
			Backoff: retry.Exponential{Base: sec, Cap: 30 * sec}, MaxAttempts: 5,
		})
	},
}, {
	what: "other waits",
	before: func(ctx context.Context, op operation) error {
		return hashicorp(ctx, op, func(client *retryablehttp.Client) {
			client.RetryWaitMin, client.RetryWaitMax = 100*ms, 5*sec
			client.RetryMax = 9
		})
	},
	after: func(ctx context.Context, op operation) error {
		return transport(ctx, op, retry.Policy{
			Backoff: retry.Exponential{Base: 100 * ms, Cap: 5 * sec}, MaxAttempts: 10,
		})
	},
}, {
	what: "jitter",
	before: func(ctx context.Context, op operation) error {
		return hashicorp(ctx, op, func(client *retryablehttp.Client) {
			client.Backoff = retryablehttp.RateLimitLinearJitterBackoff
		})
	},
	after: func(ctx context.Context, op operation) error {
		return transport(ctx, op, retry.Policy{
			Backoff: retry.FullJitter{Base: sec, Cap: 30 * sec}, MaxAttempts: 5,
		})
	},
	differs: "from 0 to a doubling bound; go-retryablehttp: 1 to 30 s, times the number of the retry",
}, {
	what: "another check",
	before: func(ctx context.Context, op operation) error {
		return hashicorp(ctx, op, func(client *retryablehttp.Client) {
			client.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
				return resp != nil && resp.StatusCode == 503, ctx.Err()
			}
		})
	},
	after: func(ctx context.Context, op operation) error {
		return transport(ctx, op, retry.Policy{
			Classifier: retry.OnlyIf(func(err error) bool {
				status, ok := errors.AsType[*retryhttp.StatusError](err)
				return ok && status.HTTPStatusCode() == 503
			}),
		})
	},
}, {
	what: "the last response instead of an error",
	before: func(ctx context.Context, op operation) error {
		return hashicorp(ctx, op, func(client *retryablehttp.Client) {
			client.ErrorHandler = retryablehttp.PassthroughErrorHandler
		})
	},
	after: func(ctx context.Context, op operation) error {
		return transport(ctx, op, retry.Policy{})
	},
}, {
	what: "a hook for each attempt",
	before: func(ctx context.Context, op operation) error {
		return hashicorp(ctx, op, func(client *retryablehttp.Client) {
			client.RequestLogHook = func(_ retryablehttp.Logger, req *http.Request, n int) { logger.Info("attempt", "n", n) }
		})
	},
	after: func(ctx context.Context, op operation) error {
		return transport(ctx, op, retry.Policy{
			Hooks: retry.Hooks{OnAttempt: func(_ context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
				logger.Info("attempt", "n", a.Number)
				return nil, nil
			}},
		})
	},
}}
