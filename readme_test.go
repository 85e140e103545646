package retry_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/retrytest"
)

// The Go code of README.md and docs/guide.md, unchanged.

var load = func(context.Context, string) (string, error) { return "the page", nil }

// For requests that may run twice.
var requests = retry.Policy{
	AttemptTimeout: time.Second,
	Budget:         &retry.SharedBudget{}, // one for each server, used by all calls to it
}

func page(ctx context.Context, url string) (string, error) {
	return retry.DoValue(ctx, requests, func(ctx context.Context) (string, error) {
		return load(ctx, url)
	})
}

var ErrUnknownCustomer = errors.New("unknown customer")

type Order int

var send = func(_ context.Context, order Order) error {
	return fmt.Errorf("order %d: %w", order, ErrUnknownCustomer)
}

// For work in the background by a fixed number of workers.
var background = retry.Policy{
	MaxElapsed:     time.Minute,
	AttemptTimeout: 10 * time.Second,
	Budget:         retry.NoBudget{}, // a worker that waits makes no other call
}

func submit(ctx context.Context, order Order) error {
	return retry.Do(ctx, background, func(ctx context.Context) error {
		err := send(ctx, order)
		if errors.Is(err, ErrUnknownCustomer) {
			return retry.Permanent(err) // ends the call
		}
		return err
	})
}

// TestBackgroundAnywhere: the policy for workers has no budget in a Transport either. An endpoint
// that is down for a while does not cost a webhook.
func TestBackgroundAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		endpoint := roundTripper(func(req *http.Request) (*http.Response, error) {
			time.Sleep(10 * ms)
			if time.Since(begin) < 15*time.Second {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
		})
		client := &http.Client{Transport: &retryhttp.Transport{Base: endpoint, Policy: background}}
		webhooks := make(chan int, 20)
		for i := range cap(webhooks) {
			webhooks <- i
		}
		close(webhooks)
		var delivered atomic.Int32
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for range webhooks {
					resp, err := client.Post("http://endpoint/", "text/plain", strings.NewReader("event"))
					if err == nil && resp.StatusCode == http.StatusOK {
						delivered.Add(1)
					}
				}
			})
		}
		workers.Wait()
		assert.EqualValues(t, 20, delivered.Load())
	})
}

func readmeCall(ctx context.Context, policy retry.Policy, upload func(context.Context, *os.File) error, file *os.File) error {
	err := retry.Do(ctx, policy, func(ctx context.Context) error {
		return upload(ctx, file)
	})
	return err
}

func readmeGaveUp(ctx context.Context, policy retry.Policy, op func(context.Context) error) {
	if err := retry.Do(ctx, policy, op); errors.Is(err, retry.ErrMaxAttempts) {
		log.Print(err) // gave up after 3 attempts (all attempts used): unexpected EOF
	}
}

func readmeByHand(ctx context.Context, policy retry.Policy, url string) (body []byte, _ error) {
	err := retry.Do(ctx, policy, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if err := retryhttp.CheckStatus(resp); err != nil {
			return err
		}
		body, err = io.ReadAll(resp.Body)
		return err
	})
	return body, err
}

func readmeMarkers(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return retry.Permanent(err) // do not retry
	}
	return retry.After(err, 30*time.Second) // retry, but no sooner than in 30 s
}

func readmeHTTP(req *http.Request, orderID string) (*http.Response, error) {
	client := retryhttp.NewClient(retry.Policy{MaxAttempts: 4})
	req.Header.Set("Idempotency-Key", orderID)
	resp, err := client.Do(req)
	return resp, err
}

func readmeSQL(ctx context.Context, policy retry.Policy, db *sql.DB, id int) error {
	err := retrysql.InTx(ctx, policy, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - 1 WHERE id = $1", id)
		return err
	})
	return err
}

func TestReadmeTesting(t *testing.T) {
	clock := &retrytest.Clock{}
	policy := retry.Policy{Clock: clock, Rand: retrytest.Fixed(0.5)}
	op := retrytest.Fail(2, io.ErrUnexpectedEOF)
	err := retry.Do(t.Context(), policy, op.Run)
	// err == nil, op.Calls() == 3, clock.Waits() == [25ms 50ms]

	require.NoError(t, err)
	assert.Equal(t, 3, op.Calls())
	assert.Equal(t, []time.Duration{25 * ms, 50 * ms}, clock.Waits())
}

func Example_readme() {
	fmt.Println(page(context.Background(), "http://host/"))
	fmt.Println(submit(context.Background(), 17))
	// Output:
	// the page <nil>
	// order 17: unknown customer
}

func TestReadmeGaveUp(t *testing.T) {
	var text strings.Builder
	log.SetOutput(&text)
	log.SetFlags(0)
	defer func() { log.SetOutput(os.Stderr); log.SetFlags(log.LstdFlags) }()
	synctest.Test(t, func(t *testing.T) {
		policy := requests
		policy.Budget = &retry.SharedBudget{} // that of requests would be empty after some runs
		readmeGaveUp(t.Context(), policy, retrytest.Fail(9, io.ErrUnexpectedEOF).Run)
	})
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), "log.Print(err) // "+text.String())
}

func TestReadmeMarkers(t *testing.T) {
	assert.Equal(t, retry.ClassPermanent, failed(t, nil, readmeMarkers(fs.ErrNotExist)).Class)
	a := failed(t, nil, readmeMarkers(errOp))
	assert.Equal(t, retry.ClassUnknown, a.Class)
	assert.Equal(t, 30*time.Second, a.Hint)
}

func TestReadmeHTTP(t *testing.T) {
	var keys []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	req, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader("content"))
	require.NoError(t, err)
	resp, err := readmeHTTP(req, "17")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.NoError(t, resp.Body.Close())
	assert.Equal(t, []string{"17", "17"}, keys)
}

func TestReadmeByHand(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte("content"))
	}))
	defer server.Close()
	body, err := readmeByHand(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, server.URL)
	require.NoError(t, err)
	assert.Equal(t, "content", string(body))
	assert.Equal(t, 2, requests)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		client := &http.Client{Transport: &retryhttp.Transport{Base: roundTripper(func(*http.Request) (*http.Response, error) {
			requests++
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody}, nil
		})}}
		resp, err := client.Get("http://host/")
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable || requests != 3 {
			t.Error(resp, err, requests)
		}
	})
}

// TestDefaults has the figures of README.md and docs/guide.md that follow from the code. If one
// changes, so do the pages. docs/maintainers/evidence.md lists those that are measured.
func TestDefaults(t *testing.T) {
	assert.Equal(t, 3, retry.Policy{}.Attempts())
	assert.Equal(t, []time.Duration{50 * ms, 100 * ms, 20 * time.Second}, longest(retry.ClassTransient, 1, 2, 99))
	assert.Equal(t, []time.Duration{time.Second, 2 * time.Second}, longest(retry.ClassThrottled, 1, 2))
	assert.Equal(t, []int{6, 9, 14, 68}, []int{attemptsIn(time.Second), attemptsIn(10 * time.Second), attemptsIn(time.Minute), attemptsIn(10 * time.Minute)})
	hint, _ := retry.HintAtLeast{}.Wait(0, 2*time.Hour)
	assert.Equal(t, time.Hour, hint)
	assert.Equal(t, retry.ClassPermanent, failed(t, nil, statusedError(404)).Class)
}

// attemptsIn returns how often a call is attempted whose waits are the means of the default rule.
func attemptsIn(d time.Duration) int {
	return 1 + len(slices.Collect(retry.Policy{MaxElapsed: d, Rand: retrytest.Fixed(0.5)}.Delays()))
}

// longest returns the longest waits of the zero Policy after attempts with these numbers.
func longest(class retry.Class, numbers ...int) (waits []time.Duration) {
	for _, number := range numbers {
		a := retry.Attempt{Number: number, Verdict: retry.Verdict{Class: class}}
		waits = append(waits, retry.Spread{}.Delay(a, 1-0x1p-53).Round(ms))
	}
	return waits
}

// TestGuideLimits: how often an operation that does not answer is called, and for how long.
func TestGuideLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		policy   retry.Policy
		timeout  time.Duration // of the context
		attempts int
		took     time.Duration
		reason   error
	}{
		"10 s in all, 2 s each":      {retry.Policy{MaxAttempts: retry.Unlimited, AttemptTimeout: 2 * time.Second}, 10 * time.Second, 5, 10 * time.Second, context.DeadlineExceeded},
		"without MaxAttempts":        {retry.Policy{AttemptTimeout: 2 * time.Second}, 10 * time.Second, 3, 6075 * ms, retry.ErrMaxAttempts},
		"MaxElapsed, 2 s each":       {retry.Policy{MaxElapsed: 10 * time.Second, AttemptTimeout: 2 * time.Second}, time.Hour, 5, 10375 * ms, retry.ErrMaxElapsed},
		"MaxElapsed at worst":        {retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: retry.Unlimited, MaxElapsed: 10 * time.Second, AttemptTimeout: 2 * time.Second}, time.Hour, 6, 12 * time.Second, retry.ErrMaxElapsed},
		"a context of 10 s":          {retry.Policy{}, 10 * time.Second, 1, 10 * time.Second, context.DeadlineExceeded},
		"MaxElapsed ends no attempt": {retry.Policy{MaxElapsed: 10 * time.Second}, time.Minute, 1, time.Minute, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				tt.policy.Rand = retrytest.Fixed(0.5)
				start := time.Now()
				err := retry.Do(ctx, tt.policy, func(ctx context.Context) error {
					<-ctx.Done()
					return ctx.Err()
				})
				assert.ErrorIs(t, err, tt.reason)
				assert.ErrorIs(t, err, context.DeadlineExceeded, "of the last attempt")
				assert.Equal(t, tt.reason == retry.ErrMaxElapsed, errors.Is(err, retry.ErrMaxElapsed))
				assert.Equal(t, tt.attempts, asError(t, err).Attempts)
				assert.Equal(t, tt.took, time.Since(start))
			})
		})
	}
}

// TestGuideHTTP: which responses to a GET are retried.
func TestGuideHTTP(t *testing.T) {
	requests := func(status int, retryAfter string) (n int) {
		clock := &retrytest.Clock{}
		client := &http.Client{Transport: &retryhttp.Transport{
			Policy: retry.Policy{Clock: clock, MaxAttempts: 2},
			Base: roundTripper(func(*http.Request) (*http.Response, error) {
				n++
				return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {retryAfter}}, Body: http.NoBody}, nil
			}),
		}}
		_, err := client.Get("http://host/")
		require.NoError(t, err)
		return n
	}
	retried := 0
	for status := 500; status < 600; status++ {
		retried += requests(status, "") - 1
	}
	assert.Greater(t, retried, 90, "most 5xx")
	assert.Equal(t, 2, requests(408, ""))
	assert.Equal(t, 2, requests(429, ""))
	assert.Equal(t, 2, requests(503, "60"), "a minute")
	assert.Equal(t, 1, requests(503, "61"), "longer than a minute")
}

func TestReadmeCall(t *testing.T) {
	uploads := 0
	err := readmeCall(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, func(context.Context, *os.File) error {
		uploads++
		return io.ErrUnexpectedEOF
	}, nil)
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 3, uploads)
}

func TestReadmeSQL(t *testing.T) {
	err := readmeSQL(t.Context(), retry.Policy{MaxAttempts: -1}, nil, 1)
	assert.ErrorIs(t, err, retry.ErrInvalid) // package retrysql has the tests
}

// TestReadme: the code of the README, the guide and the page about configuration compiles,
// the error text is real, and the policies parse.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	guide, err := os.ReadFile("docs/guide.md")
	require.NoError(t, err)
	configuration, err := os.ReadFile("docs/configuration.md")
	require.NoError(t, err)
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	decoding, err := os.ReadFile("test/compat/decoders/guide_test.go") // has YAML
	require.NoError(t, err)
	unindented := strings.ReplaceAll(string(source), "\n\t", "\n") + string(source) + string(decoding)

	blocks := map[string][]string{} // by language
	for i, part := range strings.Split(string(readme)+string(guide)+string(configuration), "```") {
		if i%2 == 1 {
			language, text, _ := strings.Cut(part, "\n")
			blocks[language] = append(blocks[language], text)
		}
	}
	require.NotEmpty(t, blocks["go"])
	for _, block := range blocks["go"] {
		assert.Contains(t, unindented, "\n"+block)
	}
	assert.Equal(t, []string{
		"go get github.com/gobackoff/retry\n",
		"git clone https://github.com/gobackoff/retry && go -C retry/cmd install ./retry ./retrycheck ./retrymigrate ./backofflab\n",
		"go run ./examples/quickstart\ngo test ./...\n",
	}, blocks["sh"])

	require.Len(t, blocks[""], 2)
	p, _ := onClock(3)
	err = retry.Do(t.Context(), p, retrytest.Script(io.ErrUnexpectedEOF).Run)
	assert.Equal(t, err.Error()+"\n", blocks[""][0])
	for line := range strings.Lines(blocks[""][1]) {
		p, err := retryconfig.Parse(line)
		require.NoError(t, err)
		text, err := retryconfig.Text(p)
		require.NoError(t, err)
		assert.Equal(t, strings.TrimSpace(line), text)
	}

	for _, policy := range regexp.MustCompile("`(retry\\.Policy\\{[^`]+)`").FindAllStringSubmatch(string(guide), -1) {
		assert.Contains(t, string(source), policy[1])
	}
}
