package hooks

import (
	"context"
	"log"
	"log/slog"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retryslog"
)

type key struct{}

func sleeps() retry.Hooks {
	return retry.Hooks{
		OnRetry: func(_ context.Context, _ retry.Attempt, wait time.Duration) {
			time.Sleep(wait) // want `Do waits by itself between attempts`
			go func() { time.Sleep(wait) }()
			time.AfterFunc(wait, func() { time.Sleep(wait) })
		},
		OnGiveUp: func(_ context.Context, e *retry.Error) {
			if e.Attempts > 3 {
				panic(e) // want `Do returns a panic of a hook as an error`
			}
			log.Print(e.Err.Error()) // want `e.Err is nil if the context was done before the first attempt, and then this panics: use e itself`
		},
	}
}

var asks = retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) {
	log.Print(e, e.Err)
	if e.Err != nil {
		log.Print(e.Err.Error())
	}
}}

var replacing = retry.Hooks{OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
	return context.WithValue(context.Background(), key{}, a.Number), nil // want `this replaces the context of the attempt`
}}

var deriving = retry.Hooks{OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
	if a.Number == 1 {
		return nil, nil
	}
	ctx = context.WithValue(ctx, key{}, a.Number)
	return ctx, func(done retry.Attempt) { log.Print(a.Number, a.Waited, done.Err, a.Err) }
}}

var earlier = retry.Hooks{OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
	return ctx, func(retry.Attempt) {
		if a.Err != nil { // want `a.Err is the failure of the attempt before this one: use the Attempt that the function itself receives`
			log.Print("failed")
		}
	}
}}

type notifier struct {
	policy retry.Policy
	plain  retry.Policy
}

func newNotifier() *notifier {
	n := &notifier{}
	n.policy = retry.Policy{MaxAttempts: 3, Hooks: retry.Hooks{
		OnGiveUp: func(ctx context.Context, e *retry.Error) {
			_ = n.notify(ctx, e.Error()) // want `this calls Do with the policy that the hook belongs to, so its failure calls the hook again, without end`
			_ = n.log(ctx)
			go n.notify(ctx, e.Error()) // want `this calls Do with the policy that the hook belongs to`
		},
	}}
	n.policy.OnRetry = func(ctx context.Context, _ retry.Attempt, _ time.Duration) { // want `this hook calls Do with the policy that it belongs to`
		_ = retry.Do(ctx, n.policy, func(context.Context) error { return post(ctx, "retry") })
	}
	return n
}

func (n *notifier) notify(ctx context.Context, text string) error {
	return retry.Do(ctx, n.policy, func(ctx context.Context) error { return post(ctx, text) })
}

func (n *notifier) log(ctx context.Context) error {
	return retry.Do(ctx, n.plain, func(ctx context.Context) error { return post(ctx, "log") })
}

func post(ctx context.Context, text string) error { log.Print(text); return ctx.Err() }

func rounds(ctx context.Context, p retry.Policy, hooks retry.Hooks, more []retry.Hooks, jobs []func(context.Context) error) {
	for _, job := range jobs {
		p = p.With(hooks) // want `each round of this loop adds the hooks once more: add them where the policy is made, or to a copy`
		_ = retry.Do(ctx, p, job)
	}
	q := p
	for _, h := range more {
		q = q.With(h)
	}
	for _, job := range jobs {
		q := q
		q = q.With(hooks)
		_ = retry.Do(ctx, q, job)
	}
	for _, job := range jobs {
		q = p
		q = q.With(hooks)
		_ = retry.Do(ctx, q, job)
	}
}

func asked(call context.Context, p retry.Policy) {
	p = p.With(retry.AttemptInContext())
	_ = retry.Do(call, p, func(ctx context.Context) error {
		if a, ok := retry.AttemptFrom(call); ok { // want `call is the context of the whole call, which has no attempt: ask the context that retry.Do gives the operation`
			log.Print(a.Number)
		}
		return post(ctx, "")
	})
	a, _ := retry.AttemptFrom(call) // want `call is the context of the whole call`
	log.Print(a.Number)
	_ = retry.Do(call, p, func(ctx context.Context) error {
		err := retry.Do(ctx, p, func(ctx context.Context) error { return post(ctx, "") })
		a, _ := retry.AttemptFrom(ctx)
		log.Print(a.Number)
		return err
	})
}

var (
	early = retry.Policy{Hooks: retryslog.Hooks(slog.Default())} // want `this takes the default logger before slog.SetDefault sets another one: pass nil`
	late  = retry.Policy{Hooks: retryslog.Hooks(nil)}
)

func setsLogger(l *slog.Logger) retry.Hooks {
	slog.SetDefault(l)
	return retryslog.Hooks(slog.Default())
}

var ofPackage = retry.Policy{MaxAttempts: 4}

func addsToPackage(ctx context.Context, hooks retry.Hooks, op func(context.Context) error) error {
	ofPackage = ofPackage.With(hooks) // want `each call of this function adds the hooks once more`
	return retry.Do(ctx, ofPackage, op)
}

var (
	hooked = retry.Policy{MaxAttempts: 4}
	bare   = retry.Policy{MaxAttempts: 4}
)

func init() { hooked.OnRetry = func(context.Context, retry.Attempt, time.Duration) {} }

func copiesOf(hooks retry.Hooks) []retry.Policy {
	p := bare
	p.Hooks = hooks
	q := hooked
	q.Hooks = hooks // want `this replaces the hooks that the policy has`
	return []retry.Policy{p, q}
}

var asserts = retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) {
	switch e.ReasonLabel() {
	case "attempts", "elapsed":
	default:
		panic("unknown reason " + e.ReasonLabel())
	}
}}

func parsed(text string, hooks retry.Hooks) (retry.Policy, error) {
	p, err := retryconfig.Parse(text)
	p.Hooks = hooks
	return p, err
}
