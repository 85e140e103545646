package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	avastretry "github.com/avast/retry-go/v5"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	backoff5 "github.com/cenkalti/backoff/v5"
	backoff7 "github.com/cenkalti/backoff/v7"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
	sethvargoretry "github.com/sethvargo/go-retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhedge"
)

var update = flag.Bool("update", false, "write the table of features to README.md")

type (
	work   = func(context.Context) error
	caller = func(work) error
)

// abilities contains the functions that try a library's features. A function is nil if the
// library lacks the feature.
type abilities struct {
	library library

	// grow makes at most four attempts, with waits of 1, 2 and 4 s. Its calls share
	// everything that the library allows them to share.
	grow func(context.Context) caller
	// permanent marks an error as not retryable. The function after returns an error that
	// sets the wait before the retry.
	permanent func(error) error
	after     func(error, time.Duration) error
	// Calls made with limited give each attempt one second; calls made with budgeted share
	// a small budget; calls made with hedged start a second copy of one that takes a second.
	limited, budgeted, hedged func(context.Context) caller
	// asking calls op until its result is true.
	asking func(op func() bool)
}

var everyLibrary = []abilities{
	{
		library: ours,
		grow: func(ctx context.Context) caller {
			policy := retry.Policy{MaxAttempts: 4, Backoff: retry.Exponential{Base: time.Second}}
			return func(op work) error { return retry.Do(ctx, policy, op) }
		},
		permanent: retry.Permanent,
		after:     retry.After,
		limited: func(ctx context.Context) caller {
			return func(op work) error { return retry.Do(ctx, retry.Policy{AttemptTimeout: time.Second}, op) }
		},
		budgeted: func(ctx context.Context) caller {
			policy := retry.Policy{Budget: &awspreset.TokenBudget{Capacity: 50}}
			return func(op work) error { return retry.Do(ctx, policy, op) }
		},
		hedged: func(ctx context.Context) caller {
			hedge := &retryhedge.Hedge{After: time.Second}
			for range 20 { // calls that succeed allow copies of others
				_, _ = retryhedge.Do(ctx, hedge, "", func(context.Context) (int, error) { return 0, nil })
			}
			return func(op work) error {
				_, err := retryhedge.Do(ctx, hedge, "", func(ctx context.Context) (int, error) { return 0, op(ctx) })
				return err
			}
		},
	},
	{
		library: cenkalti7,
		grow: func(ctx context.Context) caller {
			b := cenkalti7Usual(0).(*backoff7.ExponentialBackOff)
			b.InitialInterval = time.Second
			return func(op work) error {
				_, err := backoff7.Retry(ctx, func() (int, error) { return 0, op(ctx) }, backoff7.WithMaxTries(4), backoff7.WithBackOff(b))
				return err
			}
		},
		permanent: backoff7.Permanent,
		after:     func(err error, d time.Duration) error { return backoff7.RetryAfter(d, err) },
	},
	{
		library: cenkalti5,
		grow: func(ctx context.Context) caller {
			b := cenkalti5Usual(0).(*backoff5.ExponentialBackOff)
			b.InitialInterval = time.Second
			return func(op work) error {
				_, err := backoff5.Retry(ctx, func() (int, error) { return 0, op(ctx) }, backoff5.WithMaxTries(4), backoff5.WithBackOff(b))
				return err
			}
		},
		permanent: backoff5.Permanent,
		after:     func(_ error, d time.Duration) error { return backoff5.RetryAfter(int(d.Seconds())) },
	},
	{
		library: avast,
		grow: func(ctx context.Context) caller {
			retrier := avastretry.New(avastretry.Context(ctx), avastretry.Attempts(4),
				avastretry.Delay(time.Second), avastretry.MaxDelay(usualCap), avastretry.DelayType(func(n uint, err error, config avastretry.DelayContext) time.Duration {
					if asked, ok := errors.AsType[waitError](err); ok {
						return time.Duration(asked)
					}
					return avastretry.BackOffDelay(n, err, config)
				}))
			return func(op work) error { return retrier.Do(func() error { return op(ctx) }) }
		},
		permanent: avastretry.Unrecoverable,
		after:     func(_ error, d time.Duration) error { return waitError(d) }, // read by a delay rule
		budgeted: func(ctx context.Context) caller {
			retrier := avastretry.New(avastretry.Context(ctx), avastretry.Attempts(4),
				avastretry.WithFixedTokenBucketThrottle(avastretry.FixedTokenBucketThrottleConfig{MaxCapacity: 10}))
			return func(op work) error { return retrier.Do(func() error { return op(ctx) }) }
		},
	},
	{
		library: sethvargo,
		grow: func(ctx context.Context) caller {
			b := sethvargoretry.WithMaxRetries(3, sethvargoretry.NewExponential(time.Second))
			return func(op work) error {
				return sethvargoretry.Do(ctx, b, func(ctx context.Context) error {
					err := op(ctx)
					if errors.Is(err, errMarked) {
						return err
					}
					return sethvargoretry.RetryableError(err)
				})
			}
		},
		permanent: func(error) error { return errMarked }, // every error that is not marked as retryable is permanent
	},
	{
		library: failsafeGo,
		grow: func(ctx context.Context) caller {
			policy := retrypolicy.NewBuilder[any]().WithMaxAttempts(4).WithBackoff(time.Second, usualCap).AbortOnErrors(errMarked).
				WithDelayFunc(func(e failsafe.ExecutionAttempt[any]) time.Duration {
					if asked, ok := errors.AsType[waitError](e.LastError()); ok {
						return time.Duration(asked)
					}
					return -1 // the default delay
				}).Build()
			return func(op work) error {
				return failsafe.With[any](policy).WithContext(ctx).Run(func() error { return op(ctx) })
			}
		},
		permanent: func(error) error { return errMarked }, // recognized by a rule in the policy
		after:     func(_ error, d time.Duration) error { return waitError(d) },
		limited: func(ctx context.Context) caller {
			policies := []failsafe.Policy[any]{retrypolicy.NewWithDefaults[any](), timeout.New[any](time.Second)}
			return func(op work) error {
				return failsafe.With(policies...).WithContext(ctx).RunWithExecution(func(e failsafe.Execution[any]) error { return op(e.Context()) })
			}
		},
		budgeted: func(ctx context.Context) caller {
			b := budget.NewBuilder().WithMaxRate(0.1).WithMinConcurrency(1).Build()
			policy := retrypolicy.NewBuilder[any]().WithMaxAttempts(4).WithDelay(time.Second).WithBudget(b).Build()
			return func(op work) error {
				return failsafe.With[any](policy).WithContext(ctx).Run(func() error { return op(ctx) })
			}
		},
		hedged: func(ctx context.Context) caller {
			policy := hedgepolicy.NewBuilderWithDelay[any](time.Second).Build()
			return func(op work) error {
				return failsafe.With[any](policy).WithContext(ctx).RunWithExecution(func(e failsafe.Execution[any]) error { return op(e.Context()) })
			}
		},
		asking: func(op func() bool) {
			policy := retrypolicy.NewBuilder[bool]().HandleResult(false).Build()
			_, _ = failsafe.With[bool](policy).Get(func() (bool, error) { return op(), nil })
		},
	},
	{
		library: awsSDK,
		grow: func(ctx context.Context) caller {
			return awsCaller(ctx, func(o *awsretry.StandardOptions) {
				o.MaxAttempts, o.RateLimiter = 4, ratelimit.None
				o.Backoff = awsretry.BackoffDelayerFunc(func(failed int, err error) (time.Duration, error) {
					if asked, ok := errors.AsType[waitError](err); ok {
						return time.Duration(asked), nil
					}
					return time.Second << (failed - 1), nil
				})
			})
		},
		permanent: func(error) error { return awsPermanent{} },
		after:     func(_ error, d time.Duration) error { return waitError(d) }, // read by a delay rule
		budgeted: func(ctx context.Context) caller {
			return awsCaller(ctx, func(o *awsretry.StandardOptions) { o.RateLimiter = ratelimit.NewTokenRateLimit(50) })
		},
	},
	{
		library: kubernetes,
		grow: func(ctx context.Context) caller {
			b := wait.Backoff{Duration: time.Second, Factor: 2, Steps: 4}
			return func(op work) error {
				return wait.ExponentialBackoffWithContext(ctx, b, func(ctx context.Context) (bool, error) {
					err := op(ctx)
					if errors.Is(err, errMarked) {
						return false, err
					}
					return err == nil, nil
				})
			}
		},
		permanent: func(error) error { return errMarked }, // an error that the condition returns is permanent
	},
}

var errMarked, errFirst = errors.New("marked"), errors.New("the first")

// waitError carries a wait. It is used with libraries whose delay rules receive the error.
type waitError time.Duration

func (e waitError) Error() string { return "wait " + time.Duration(e).String() }

type awsPermanent struct{}

func (awsPermanent) Error() string        { return "permanent" }
func (awsPermanent) RetryableError() bool { return false }

func awsCaller(ctx context.Context, options func(*awsretry.StandardOptions)) caller {
	attempt := awsretry.NewAttemptMiddleware(awsretry.NewStandard(func(o *awsretry.StandardOptions) {
		o.Retryables = append(o.Retryables, awsretry.IsErrorRetryableFunc(func(error) aws.Ternary { return aws.TrueTernary }))
		options(o)
	}), func(request any) any { return request })
	return func(op work) error {
		_, _, err := attempt.HandleFinalize(ctx, middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(
			func(ctx context.Context, _ middleware.FinalizeInput) (out middleware.FinalizeOutput, m middleware.Metadata, _ error) {
				return out, m, op(ctx)
			}))
		return err
	}
}

// features are the rows of the table. Each row tries its feature in a synctest bubble.
var features = []struct {
	title string
	has   func(context.Context, abilities) bool
}{
	{"never calls the operation with a canceled context", func(ctx context.Context, a abilities) bool {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		calls := 0
		_ = a.grow(ctx)(func(context.Context) error { calls++; return errFlaky })
		return calls == 0
	}},
	{"gives up at once if the wait would pass the context's deadline", func(ctx context.Context, a abilities) bool {
		start := time.Now()
		ctx, cancel := context.WithTimeout(ctx, 2500*time.Millisecond) // the second wait would end after 3 s
		defer cancel()
		_ = a.grow(ctx)(func(context.Context) error { return errFlaky })
		return time.Since(start) == time.Second
	}},
	{"its error matches the last failure and the end of the context", func(ctx context.Context, a abilities) bool {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(1500*time.Millisecond, cancel)
		err := a.grow(ctx)(func(context.Context) error { return errFlaky })
		return errors.Is(err, errFlaky) && errors.Is(err, context.Canceled)
	}},
	{"one policy with growing waits can be shared by concurrent calls", func(ctx context.Context, a abilities) bool {
		call := a.grow(ctx)
		var took [2]time.Duration
		var group sync.WaitGroup
		for i := range took {
			group.Go(func() {
				time.Sleep(time.Duration(i) * 1500 * time.Millisecond) // staggered
				start := time.Now()
				_ = call(func(context.Context) error { return errFlaky })
				took[i] = time.Since(start)
			})
		}
		group.Wait()
		return took == [2]time.Duration{7 * time.Second, 7 * time.Second}
	}},
	{"permanent errors end the call", func(ctx context.Context, a abilities) bool {
		if a.permanent == nil {
			return false
		}
		calls := 0
		err := a.grow(ctx)(func(context.Context) error { calls++; return a.permanent(errFlaky) })
		return calls == 1 && err != nil
	}},
	{"an error can carry the server's retry delay", func(ctx context.Context, a abilities) bool {
		if a.after == nil {
			return false
		}
		start, calls := time.Now(), 0
		err := a.grow(ctx)(func(context.Context) error {
			if calls++; calls == 1 {
				return a.after(errFlaky, 10*time.Second)
			}
			return nil
		})
		waited := time.Since(start)
		return err == nil && calls == 2 && waited >= 10*time.Second && waited <= 11*time.Second
	}},
	{"a time limit for each attempt", func(ctx context.Context, a abilities) bool {
		if a.limited == nil {
			return false
		}
		calls := 0
		err := a.limited(ctx)(func(ctx context.Context) error {
			if calls++; calls > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		return err == nil && calls == 2
	}},
	{"a budget bounds the retries of all calls", func(ctx context.Context, a abilities) bool {
		if a.budgeted == nil {
			return false
		}
		const callers = 100
		var calls atomic.Int64
		call := a.budgeted(ctx)
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				_ = call(func(context.Context) error {
					time.Sleep(time.Second) // some budgets count calls in flight
					calls.Add(1)
					return errFlaky
				})
			})
		}
		group.Wait()
		return calls.Load() > callers && calls.Load() < 2*callers
	}},
	{"nested calls of 4 attempts make 4, not 16", func(ctx context.Context, a abilities) bool {
		calls := 0
		_ = a.grow(ctx)(func(ctx context.Context) error {
			return a.grow(ctx)(func(context.Context) error { calls++; return errFlaky })
		})
		return calls == 4
	}},
	{"its error matches all failures of the call", func(ctx context.Context, a abilities) bool {
		calls := 0
		err := a.grow(ctx)(func(context.Context) error {
			if calls++; calls == 1 {
				return errFirst
			}
			return errFlaky
		})
		return errors.Is(err, errFirst) && errors.Is(err, errFlaky)
	}},
	{"a result can ask for a retry, without an error", func(_ context.Context, a abilities) bool {
		calls := 0
		if a.asking != nil {
			a.asking(func() bool { calls++; return calls == 2 })
		}
		return calls == 2
	}},
	{"a second copy of a slow call (hedging)", func(ctx context.Context, a abilities) bool {
		if a.hedged == nil {
			return false
		}
		var calls atomic.Int64
		_ = a.hedged(ctx)(func(ctx context.Context) error {
			calls.Add(1)
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		return calls.Load() == 2
	}},
	{"a hook for each retry", func(_ context.Context, a abilities) bool { return a.library.hooks }}, // see TestHook
}

func jitters(l library) string {
	var kinds []string
	for _, kind := range []struct{ strategy, name string }{
		{fullJitter, "full"}, {equalJitter, "equal"}, {decorrelated, "decorrelated"}, {partJitter, "± share"},
	} {
		if _, ok := l.delays[kind.strategy]; ok {
			kinds = append(kinds, kind.name)
		}
	}
	if l.name == failsafeGo.name { // the library does not show its delays, but failsafePolicy uses this jitter
		kinds = append(kinds, "± share")
	}
	return strings.Join(kinds, ", ")
}

func featureTable(t *testing.T) string {
	var b strings.Builder
	line := func(title string, cell func(abilities) string) {
		fmt.Fprintf(&b, "| %s |", title)
		for _, a := range everyLibrary {
			fmt.Fprintf(&b, " %s |", cell(a))
		}
		b.WriteByte('\n')
	}
	line("", func(a abilities) string {
		for _, c := range columns {
			if c.name == a.library.name {
				title, _, _ := strings.Cut(c.title, " ¹")
				return strings.TrimRight(title, " ²³⁴")
			}
		}
		return a.library.name
	})
	line("---", func(abilities) string { return "---" })
	for _, f := range features {
		line(f.title, func(a abilities) string {
			has := false
			t.Run(f.title+", "+a.library.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { has = f.has(t.Context(), a) })
			})
			if has {
				return "yes"
			}
			return "–"
		})
	}
	line("jitter", func(a abilities) string { return jitters(a.library) })
	line("oldest Go release", func(a abilities) string {
		return list(t, "-f", "{{.Module.GoVersion}}", packages[a.library.name])
	})
	line("modules that are linked with it", func(a abilities) string {
		modules := strings.Fields(list(t, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", packages[a.library.name]))
		slices.Sort(modules)
		return strconv.Itoa(len(slices.Compact(modules)))
	})
	return b.String()
}

// packages are what a program imports to retry.
var packages = map[string]string{
	ours.name:       "github.com/gobackoff/retry",
	cenkalti7.name:  "github.com/cenkalti/backoff/v7",
	cenkalti5.name:  "github.com/cenkalti/backoff/v5",
	avast.name:      "github.com/avast/retry-go/v5",
	sethvargo.name:  "github.com/sethvargo/go-retry",
	failsafeGo.name: "github.com/failsafe-go/failsafe-go/retrypolicy",
	awsSDK.name:     "github.com/aws/aws-sdk-go-v2/aws/retry",
	kubernetes.name: "k8s.io/apimachinery/pkg/util/wait",
}

// list is go list.
func list(t *testing.T, arguments ...string) string {
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, arguments...)...).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// TestGrow: in every library, a single call behaves as the features require.
func TestGrow(t *testing.T) {
	for _, a := range everyLibrary {
		t.Run(a.library.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, calls := time.Now(), 0
				assert.Error(t, a.grow(t.Context())(func(context.Context) error { calls++; return errFlaky }))
				assert.Equal(t, 4, calls)
				assert.Equal(t, 7*time.Second, time.Since(start))
			})
		})
	}
}

// TestFeatures: the table in README.md shows the features that each library
// has.
func TestFeatures(t *testing.T) {
	const page, begin, end = "README.md", "<!-- features -->\n", "<!-- end of features -->\n"
	require.True(t, slices.EqualFunc(everyLibrary, slices.DeleteFunc(slices.Clone(libraries), func(l library) bool { return l.name == loop.name }),
		func(a abilities, l library) bool { return a.library.name == l.name }), "each library has its abilities here")
	readme, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(readme), begin)
	require.True(t, found)
	old, after, found := strings.Cut(rest, end)
	require.True(t, found)
	table := featureTable(t)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+table+end+after), 0o644))
		return
	}
	assert.Equal(t, table, old, "go test -run TestFeatures -update writes it")
}
