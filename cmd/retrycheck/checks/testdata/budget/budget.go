package budget

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
	sethvargo "github.com/sethvargo/go-retry"
	"golang.org/x/time/rate"
)

func op(context.Context) error { return nil }

func literal(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{Budget: &retry.SharedBudget{}}, op) // want `retry.SharedBudget is made for each call of retry.Do, so it bounds nothing`
}

func variables(ctx context.Context) error {
	budget := &retry.SharedBudget{} // want `retry.SharedBudget is made for each call`
	policy := retry.Policy{Budget: budget, MaxAttempts: 5}
	return retry.Do(ctx, policy, op)
}

func quota(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{Budget: &awspreset.TokenBudget{}}, op) // want `awspreset.TokenBudget is made for each call`
}

func limits(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{Limiter: &ratelimit.Limiter{}}, op) // want `ratelimit.Limiter is made for each call`
}

func limiter(ctx context.Context) (int, error) {
	p := retry.Policy{Limiter: rate.NewLimiter(10, 1)} // want `the result of rate.NewLimiter is made for each call of retry.DoValue`
	return retry.DoValue(ctx, p, func(context.Context) (int, error) { return 1, nil })
}

func preset(ctx context.Context) error {
	return retry.Do(ctx, awspreset.Standard21.Policy(""), op) // want `the result of awspreset.Preset.Policy is made for each call`
}

func assigned(ctx context.Context) error {
	p := shared
	p.Budget = &retry.SharedBudget{} // want `retry.SharedBudget is made for each call of retry.Do`
	return retry.Do(ctx, p.With(retry.Hooks{}), op)
}

func stored(ctx context.Context, c *client) error {
	c.policy.Budget = &retry.SharedBudget{}
	return retry.Do(ctx, shared, func(ctx context.Context) error { return c.call(ctx) })
}

var shared = retry.Policy{Budget: &retry.SharedBudget{Reserve: 1}}

func global(ctx context.Context) error { return retry.Do(ctx, shared, op) }

func perJob(ctx context.Context, jobs []func(context.Context) error) {
	p := retry.Policy{Budget: &retry.SharedBudget{}}
	for _, job := range jobs {
		_ = retry.Do(ctx, p, job)
	}
}

func twice(ctx context.Context) error {
	p := retry.Policy{Budget: &retry.SharedBudget{}}
	if err := retry.Do(ctx, p, op); err != nil {
		return err
	}
	return retry.Do(ctx, p, op)
}

func handler(limit *retry.SharedBudget) func(context.Context) error {
	p := retry.Policy{Budget: &retry.SharedBudget{Reserve: 1}}
	return func(ctx context.Context) error { return retry.Do(ctx, p, op) }
}

type client struct{ policy retry.Policy }

func newClient() *client { return &client{retry.Policy{Budget: &retry.SharedBudget{}}} }

func (c *client) call(ctx context.Context) error { return retry.Do(ctx, c.policy, op) }

func main() {
	p := retry.Policy{Budget: &retry.SharedBudget{}}
	_ = retry.Do(context.Background(), p, op)
}

func newPolicy() retry.Policy {
	return retry.Policy{Budget: &retry.SharedBudget{}} // want `retry.SharedBudget is made for each call of retry.Do`
}

func helped(ctx context.Context) error { return retry.Do(ctx, newPolicy(), op) }

func (c *client) limits() retry.Policy {
	p := retry.Policy{Budget: &retry.SharedBudget{Reserve: 1}} // want `retry.SharedBudget is made for each call`
	return p
}

func (c *client) helped(ctx context.Context) error { return retry.Do(ctx, c.limits(), op) }

func newShared() retry.Policy { return retry.Policy{Budget: &retry.SharedBudget{}} }

var made = newShared()

func usesShared(ctx context.Context) error { return retry.Do(ctx, made, op) }

func ask(req *http.Request, p retry.Policy) (*http.Response, error) {
	client := retryhttp.NewClient(p) // want `a Transport is made for one request, so its budget bounds nothing: make the client once and share it`
	client.Timeout = time.Minute
	return client.Do(req)
}

func read(req *http.Request) error {
	transport := &retryhttp.Transport{MaxBuffer: 1 << 20} // want `a Transport is made for one request`
	client := &http.Client{Transport: transport}
	_, _, err := retryhttp.Read(client, req)
	return err
}

func asks(req *http.Request) (*http.Response, error) {
	client := retryhttp.NewClient(retry.Policy{Budget: &retry.SharedBudget{}}) // want `retry.SharedBudget is made for one request, so it bounds nothing: make it once and share it`
	return client.Do(req)
}

func scoped(req *http.Request) (*http.Response, error) {
	transport := &retryhttp.Transport{PerHost: &hosts, PerScope: &retryhttp.PerScope{}} // want `retryhttp.PerScope is made for one request`
	return (&http.Client{Transport: transport}).Do(req)
}

var hosts retryhttp.PerHost

func shares(req *http.Request, p retry.Policy) (*http.Response, error) {
	client := &http.Client{Transport: &retryhttp.Transport{Policy: p, PerHost: &hosts}}
	return client.Do(req)
}

func several(reqs []*http.Request, p retry.Policy) (err error) {
	client := retryhttp.NewClient(p)
	for _, req := range reqs {
		_, err = client.Do(req)
	}
	return err
}

type api struct{ client *http.Client }

func newAPI(p retry.Policy) *api { return &api{retryhttp.NewClient(p)} }

var (
	ours   = adapt.NewSequence(retry.Policy{})                               // want `ours is shared by all calls, but counts for one: make it in each call`
	theirs = sethvargo.WithMaxRetries(3, sethvargo.NewConstant(time.Second)) // want `theirs is shared by all calls, but counts for one`
	plain  = sethvargo.NewConstant(time.Second)
)

func ownSequence() time.Duration {
	own := adapt.NewSequence(retry.Policy{})
	return own.NextBackOff()
}

var generator = rand.New(rand.NewPCG(1, 2))

var drawing = retry.Policy{Rand: generator.Float64} // want `calls that share the policy share this generator, which is not safe for that`

func draws(ctx context.Context, op func(context.Context) error) error {
	own := rand.New(rand.NewPCG(1, 2))
	return retry.Do(ctx, retry.Policy{Rand: own.Float64}, op)
}

var safe = retry.Policy{Rand: rand.Float64}

var (
	_ = retry.Policy{MaxElapsed: time.Minute, Budget: shared.Budget}
	_ = retry.Policy{MaxElapsed: time.Minute, MaxAttempts: 5, Budget: shared.Budget}
	_ = retry.Policy{MaxElapsed: time.Minute, Budget: retry.NoBudget{}}
	_ = retry.Policy{MaxElapsed: time.Minute}
)

type ticks struct{ c <-chan time.Time }

func (t ticks) Wait(context.Context) error { <-t.c; return nil }
