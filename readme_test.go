package retry_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
	_ "github.com/gobackoff/retry/retryconfig/aws"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/retrytest"
)

// The Go code of README.md and docs/guide.md, unchanged.

func readmeExample(ctx context.Context, url string, fetch func(context.Context, string) (string, error)) (string, error) {
	page, err := retry.DoValue(ctx, retry.Policy{}, func(ctx context.Context) (string, error) {
		return fetch(ctx, url)
	})
	return page, err
}

var ErrUnknownCustomer = errors.New("unknown customer")

func readmeBackground(ctx context.Context, order int, send func(context.Context, int) error) error {
	budget := &retry.TokenBudget{} // one for all calls to this server
	policy := retry.Policy{MaxElapsed: time.Minute, Budget: budget}
	err := retry.Do(ctx, policy, func(ctx context.Context) error {
		err := send(ctx, order)
		if errors.Is(err, ErrUnknownCustomer) {
			return retry.Permanent(err) // returned as it is
		}
		return err
	})
	return err
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
	fetch := func(context.Context, string) (string, error) { return "the page", nil }
	fmt.Println(readmeExample(context.Background(), "http://host/", fetch))
	send := func(context.Context, int) error { return fmt.Errorf("order 17: %w", ErrUnknownCustomer) }
	fmt.Println(readmeBackground(context.Background(), 17, send))
	// Output:
	// the page <nil>
	// order 17: unknown customer
}

func TestReadmeMarkers(t *testing.T) {
	assert.Equal(t, retry.ClassPermanent, failed(t, nil, readmeMarkers(fs.ErrNotExist)).Class)
	a := failed(t, nil, readmeMarkers(errOp))
	assert.Equal(t, retry.ClassTransient, a.Class)
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

func TestReadmeSynctest(t *testing.T) {
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

// TestReadmeFigures: the figures of the README are those of the pages that commands write.
func TestReadmeFigures(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for page, figures := range map[string][]struct{ row, said string }{
		"docs/choosing.md": {
			{"full base=100ms attempts=4 \\|.*\\| (never) \\|", "with jitter alone keep it down for good"},
			{"full base=100ms attempts=4 budget=token \\|.*\\| ([0-9.]+) ± [0-9.]+ \\| [0-9.]+ \\|", "`TokenBudget` it is back after %s s"},
			{"full base=100ms attempts=4 budget=throttle \\|.*\\| ([0-9.]+) \\| [0-9.]+ \\|", "`ThrottleBudget` after %s s"},
		},
		"docs/http.md":         {{"Of ([0-9,]+) POSTs", "Of %s POSTs"}},
		"benchmarks/README.md": {{"this library \\| ([0-9]+)[.][0-9]* ns", "needs %s ns"}},
	} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, f := range figures {
			found := regexp.MustCompile(f.row).FindStringSubmatch(string(text))
			if assert.NotNil(t, found, "%s has no %s", page, f.row) {
				assert.Contains(t, string(readme), strings.Replace(f.said, "%s", found[1], 1))
			}
		}
	}
}

func TestReadmeSQL(t *testing.T) {
	err := readmeSQL(t.Context(), retry.Policy{MaxAttempts: -1}, nil, 1)
	assert.ErrorIs(t, err, retry.ErrInvalid) // package retrysql has the tests
}

// TestReadme: the code of the README and the guide compiles, its error text is real, its
// policies parse, and its defaults are those of the package. The README stays short.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	assert.LessOrEqual(t, len(strings.Fields(string(readme))), 900)
	guide, err := os.ReadFile("docs/guide.md")
	require.NoError(t, err)
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	decoding, err := os.ReadFile("internal/test/compat/decoders/guide_test.go") // has YAML
	require.NoError(t, err)
	unindented := strings.ReplaceAll(string(source), "\n\t", "\n") + string(decoding)

	blocks := map[string][]string{} // by language
	for i, part := range strings.Split(string(readme)+string(guide), "```") {
		if i%2 == 1 {
			language, text, _ := strings.Cut(part, "\n")
			blocks[language] = append(blocks[language], text)
		}
	}
	require.Len(t, blocks["go"], 9)
	for _, block := range blocks["go"] {
		assert.Contains(t, unindented, "\n"+block)
	}
	assert.Equal(t, []string{"go get github.com/gobackoff/retry\n", "go run ./examples/quickstart\ngo test ./...\n"}, blocks["sh"])

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

	assert.Equal(t, "backoff=default attempts=3", retry.Policy{}.String())
	ceilings := func(class retry.Class) (d []time.Duration) {
		for n := 1; n <= 2; n++ {
			d = append(d, retry.Spread{}.Delay(retry.Attempt{Number: n, Verdict: retry.Verdict{Class: class}}, 1-0x1p-53).Round(ms))
		}
		return d
	}
	assert.Equal(t, []time.Duration{50 * ms, 100 * ms}, ceilings(retry.ClassTransient))
	assert.Equal(t, []time.Duration{time.Second, 2 * time.Second}, ceilings(retry.ClassThrottled))
	assert.Contains(t, string(guide), "full jitter below 50 ms, 100 ms … 20 s; after throttling below 1 s, 2 s …")
}
