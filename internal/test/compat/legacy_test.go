package compat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	avast "github.com/avast/retry-go/v5"
	cenkalti4 "github.com/cenkalti/backoff/v4"
	cenkalti5 "github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-retryablehttp"
	sethvargo "github.com/sethvargo/go-retry"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/legacy"
	"github.com/gobackoff/retry/legacy/legacyhttp"
)

// TestLegacyMarks: a call that was rewritten heeds the marks of code that was not.
func TestLegacyMarks(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name       string
		classifier retry.Classifier
		err        error
		attempts   int
	}{
		{"cenkalti v4", legacy.RetryAll{}, cenkalti4.Permanent(failed), 1},
		{"cenkalti v5, wrapped", legacy.RetryAll{}, fmt.Errorf("x: %w", cenkalti5.Permanent(failed)), 1},
		{"avast", legacy.RetryAll{}, avast.Unrecoverable(failed), 1},
		{"sethvargo", legacy.RetryMarked{}, sethvargo.RetryableError(failed), 3},
		{"no mark", legacy.RetryAll{}, failed, 3},
		{"no mark of sethvargo", legacy.RetryMarked{}, failed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempts := 0
			err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, Classifier: c.classifier},
				func(context.Context) error { attempts++; return c.err })
			assert.ErrorIs(t, err, failed)
			assert.Equal(t, c.attempts, attempts)
		})
	}
}

// TestLegacyUntil: the calls of wait and what retrymigrate makes of them call the
// condition at the same times and report the same.
func TestLegacyUntil(t *testing.T) {
	poll := retry.Policy{Backoff: retry.Constant(time.Second), MaxAttempts: retry.Unlimited, MaxElapsed: 4500 * time.Millisecond, Classifier: legacy.RetryAll{}}
	steps := wait.Backoff{Steps: 4, Duration: time.Second, Factor: 2}
	capped := wait.Backoff{Steps: 9, Duration: time.Second, Factor: 2, Cap: 4 * time.Second}
	exponential := retry.Policy{Backoff: retry.Exponential{Base: time.Second, Factor: 2}, MaxAttempts: 4, Classifier: legacy.RetryAll{}}
	type condition = func(context.Context) (bool, error)
	for _, c := range []struct {
		name        string
		before, now func(context.Context, condition) error
	}{
		{
			"at once",
			func(ctx context.Context, f condition) error {
				return wait.PollUntilContextTimeout(ctx, time.Second, 4500*time.Millisecond, true, f)
			},
			func(ctx context.Context, f condition) error { return retry.Do(ctx, poll, legacy.Until(f)) },
		},
		{
			"later",
			func(ctx context.Context, f condition) error {
				return wait.PollUntilContextTimeout(ctx, time.Second, 4500*time.Millisecond, false, f)
			},
			func(ctx context.Context, f condition) error { return retry.Do(ctx, poll, legacy.UntilLater(f)) },
		},
		{
			"exponential",
			func(ctx context.Context, f condition) error {
				return wait.ExponentialBackoffWithContext(ctx, steps, f)
			},
			func(ctx context.Context, f condition) error { return retry.Do(ctx, exponential, legacy.Until(f)) },
		},
		{
			"exponential, at run time",
			func(ctx context.Context, f condition) error {
				return wait.ExponentialBackoffWithContext(ctx, steps, f)
			},
			func(ctx context.Context, f condition) error {
				return retry.Do(ctx, legacy.Steps(steps).Policy(), legacy.Until(f))
			},
		},
		{
			"exponential, to a cap",
			func(ctx context.Context, f condition) error {
				return wait.ExponentialBackoffWithContext(ctx, capped, f)
			},
			func(ctx context.Context, f condition) error {
				return retry.Do(ctx, legacy.Steps(capped).Policy(), legacy.Until(f))
			},
		},
	} {
		for _, after := range []int{1, 3, 99} { // calls of the condition until it is true
			t.Run(fmt.Sprintf("%s, %d", c.name, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					observe := func(call func(context.Context, condition) error) (times []time.Duration, interrupted, failed bool) {
						start := time.Now()
						err := legacy.Bare(call(t.Context(), func(context.Context) (bool, error) {
							times = append(times, time.Since(start))
							return len(times) == after, nil
						}))
						return times, wait.Interrupted(err), err != nil
					}
					times, interrupted, failed := observe(c.before)
					times2, interrupted2, failed2 := observe(c.now)
					assert.Equal(t, times, times2)
					assert.Equal(t, []bool{interrupted, failed}, []bool{interrupted2, failed2})
				})
			})
		}
	}
}

// TestLegacyAsking: a BackOff of another library serves a rewritten call as it served that
// library: same attempts, same result.
func TestLegacyAsking(t *testing.T) {
	failed := errors.New("failed")
	constant := func(ctx context.Context, most uint64) cenkalti4.BackOff {
		return cenkalti4.WithContext(cenkalti4.WithMaxRetries(cenkalti4.NewConstantBackOff(time.Second), most), ctx)
	}
	four := func(b cenkalti4.BackOff, op func() error) error {
		return legacy.Bare(retry.Do(legacy.Context(b), legacy.NextBackOff(b), legacy.Op(op)))
	}
	marked := func(op func() error) func(context.Context) error {
		return func(context.Context) error { return sethvargo.RetryableError(op()) }
	}
	five := func(ctx context.Context, op func() error, after int) error {
		_, err := cenkalti5.Retry(ctx, func() (int, error) {
			if err := op(); after == 0 {
				return 0, err
			}
			return 0, cenkalti5.RetryAfter(after)
		}, cenkalti5.WithBackOff(cenkalti5.NewConstantBackOff(time.Second)), cenkalti5.WithMaxTries(3))
		return err
	}
	now := func(ctx context.Context, op func() error, after int) error {
		return legacy.Bare(retry.Do(ctx, legacy.Limit(legacy.NextBackOff(cenkalti5.NewConstantBackOff(time.Second)), retry.Policy{MaxAttempts: 3}), func(context.Context) error {
			if err := op(); after == 0 {
				return err
			}
			return cenkalti5.RetryAfter(after)
		}))
	}
	for _, c := range []struct {
		name        string
		before, now func(context.Context, func() error) error
	}{
		{
			"cenkalti v4",
			func(ctx context.Context, op func() error) error { return cenkalti4.Retry(op, constant(ctx, 2)) },
			func(ctx context.Context, op func() error) error { return four(constant(ctx, 2), op) },
		},
		{
			"cenkalti v4, ended",
			func(ctx context.Context, op func() error) error { return cenkalti4.Retry(op, constant(ctx, 9)) },
			func(ctx context.Context, op func() error) error { return four(constant(ctx, 9), op) },
		},
		{
			"cenkalti v4, used again",
			func(ctx context.Context, op func() error) error {
				b := constant(ctx, 1)
				return errors.Join(cenkalti4.Retry(op, b), cenkalti4.Retry(op, b))
			},
			func(ctx context.Context, op func() error) error {
				b := constant(ctx, 1)
				return errors.Join(four(b, op), four(b, op))
			},
		},
		{
			"cenkalti v5",
			func(ctx context.Context, op func() error) error { return five(ctx, op, 0) },
			func(ctx context.Context, op func() error) error { return now(ctx, op, 0) },
		},
		{
			"cenkalti v5, a wait of the operation",
			func(ctx context.Context, op func() error) error { return five(ctx, op, 2) },
			func(ctx context.Context, op func() error) error { return now(ctx, op, 2) },
		},
		{
			"sethvargo",
			func(ctx context.Context, op func() error) error {
				return sethvargo.Do(ctx, sethvargo.WithMaxRetries(2, sethvargo.NewFibonacci(time.Second)), marked(op))
			},
			func(ctx context.Context, op func() error) error {
				return legacy.Bare(retry.Do(ctx, legacy.Next(sethvargo.WithMaxRetries(2, sethvargo.NewFibonacci(time.Second))), func(context.Context) error { return retry.Transient(op()) }))
			},
		},
		{
			"sethvargo, not marked",
			func(ctx context.Context, op func() error) error {
				return sethvargo.Do(ctx, sethvargo.NewConstant(time.Second), func(context.Context) error { return op() })
			},
			func(ctx context.Context, op func() error) error {
				return legacy.Bare(retry.Do(ctx, legacy.Next(sethvargo.NewConstant(time.Second)), func(context.Context) error { return op() }))
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				observe := func(call func(context.Context, func() error) error) (times []time.Duration, text string) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					time.AfterFunc(5500*time.Millisecond, cancel)
					start := time.Now()
					err := call(ctx, func() error {
						times = append(times, time.Since(start))
						return failed
					})
					return append(times, time.Since(start)), fmt.Sprint(err)
				}
				times, text := observe(c.before)
				times2, text2 := observe(c.now)
				assert.Equal(t, times, times2)
				assert.Equal(t, text, text2)
			})
		})
	}
}

// TestLegacyHTTP: a client of go-retryablehttp and what retrymigrate makes of it send the same
// requests at the same times and return the same.
func TestLegacyHTTP(t *testing.T) {
	for _, c := range []struct {
		name   string
		status []int // 0: no response
		change func(*retryablehttp.Client)
	}{
		{"success", []int{200}, nil},
		{"retried", []int{503, 0, 429, 200}, nil},
		{"not retried", []int{404}, nil},
		{"given up", []int{500, 500}, nil},
		{"given up without a response", []int{0, 0}, nil},
		{"the last response", []int{500, 500}, func(c *retryablehttp.Client) { c.ErrorHandler = retryablehttp.PassthroughErrorHandler }},
		{"a CheckRetry", []int{404, 200}, func(c *retryablehttp.Client) {
			c.CheckRetry = func(_ context.Context, resp *http.Response, err error) (bool, error) {
				return resp != nil && resp.StatusCode == 404, err
			}
		}},
		{"its error", []int{500, 200}, func(c *retryablehttp.Client) { c.CheckRetry = retryablehttp.ErrorPropagatedRetryPolicy }},
		{"a Backoff", []int{500, 500}, func(c *retryablehttp.Client) { c.Backoff = retryablehttp.LinearJitterBackoff }},
		{"one attempt", []int{500}, func(c *retryablehttp.Client) { c.RetryMax = 0 }},
		{"a logger", []int{500, 0, 200}, func(c *retryablehttp.Client) { c.Logger = (*printed)(nil) }},
		{"a leveled logger", []int{500, 0, 200}, func(c *retryablehttp.Client) { c.Logger = (*levels)(nil) }},
	} {
		for _, how := range []string{"StandardClient", "Do"} {
			t.Run(c.name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					observe := func(call func(*retryablehttp.Client) (*http.Response, error)) (log []string) {
						start, sent := time.Now(), 0
						client := retryablehttp.NewClient()
						client.RetryWaitMin, client.RetryWaitMax, client.Logger = time.Second, time.Second, nil
						client.RetryMax = 3
						client.HTTPClient.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
							body, err := io.ReadAll(req.Body)
							log = append(log, fmt.Sprint(time.Since(start), req.Method, string(body), err))
							status := c.status[min(sent, len(c.status)-1)]
							if sent++; status == 0 {
								return nil, errors.New("broken")
							}
							return &http.Response{StatusCode: status, Status: "status", Request: req, Body: io.NopCloser(strings.NewReader("answer"))}, nil
						})
						client.RequestLogHook = func(l retryablehttp.Logger, _ *http.Request, n int) {
							if log = append(log, fmt.Sprint(n)); l != nil {
								l.Printf("hook %d", n)
							}
						}
						if c.change != nil {
							c.change(client)
						}
						switch client.Logger.(type) {
						case *printed:
							client.Logger = (*printed)(&log)
						case *levels:
							client.Logger = (*levels)(&log)
						}
						resp, err := call(client)
						if err == nil {
							body, err := io.ReadAll(resp.Body)
							log = append(log, fmt.Sprint(resp.StatusCode, string(body), err))
						}
						return append(log, fmt.Sprint(err))
					}
					request := func() *retryablehttp.Request {
						req, err := retryablehttp.NewRequest(http.MethodPost, "http://host/", []byte("question"))
						assert.NoError(t, err)
						return req
					}
					before := func(client *retryablehttp.Client) (*http.Response, error) { return client.Do(request()) }
					now := func(client *retryablehttp.Client) (*http.Response, error) {
						req := request()
						return legacyhttp.Do(client, req.Request, req.BodyBytes)
					}
					if how == "StandardClient" {
						before = func(client *retryablehttp.Client) (*http.Response, error) {
							return client.StandardClient().Post("http://host/", "text/plain", strings.NewReader("question"))
						}
						now = func(client *retryablehttp.Client) (*http.Response, error) {
							return legacyhttp.Client(client).Post("http://host/", "text/plain", strings.NewReader("question"))
						}
					}
					assert.Equal(t, observe(before), observe(now))
				})
			})
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// printed and levels are the two kinds of loggers.
type printed []string

func (l *printed) Printf(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

type levels []string

func (l *levels) Error(s string, args ...any) { *l = append(*l, "error "+s+fmt.Sprint(args...)) }
func (l *levels) Info(s string, args ...any)  { *l = append(*l, "info "+s+fmt.Sprint(args...)) }
func (l *levels) Debug(s string, args ...any) { *l = append(*l, "debug "+s+fmt.Sprint(args...)) }
func (l *levels) Warn(s string, args ...any)  { *l = append(*l, "warn "+s+fmt.Sprint(args...)) }
