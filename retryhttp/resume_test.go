package retryhttp_test

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// A cutter serves content with http.ServeContent, which implements ranges, and cuts each
// response after a number of bytes.
type cutter struct {
	*httptest.Server
	content  string
	etag     string // %d: changes with every request
	after    int
	requests atomic.Int64
	sent     atomic.Int64 // bytes of bodies
}

type cutWriter struct {
	http.ResponseWriter
	cutter *cutter
	left   int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		n, _ := w.ResponseWriter.Write(p[:w.left])
		w.cutter.sent.Add(int64(n))
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	n, err := w.ResponseWriter.Write(p)
	w.left -= n
	w.cutter.sent.Add(int64(n))
	return n, err
}

func newCutter(t *testing.T, protocol string, c *cutter) *cutter {
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := c.requests.Add(1)
		if etag := strings.ReplaceAll(c.etag, "N", string(rune('0'+n))); etag != "" {
			w.Header().Set("Etag", etag)
		}
		http.ServeContent(&cutWriter{w, c, c.after}, r, "content.bin", time.Time{}, strings.NewReader(c.content))
	}))
	c.Config.ErrorLog = nil
	if c.EnableHTTP2 = protocol == http2; c.EnableHTTP2 {
		c.StartTLS()
	} else {
		c.Start()
	}
	t.Cleanup(c.Close)
	return c
}

// TestResume: 1 MiB arrives through cuts at every 200 kB, without an extra byte.
func TestResume(t *testing.T) {
	for _, protocol := range []string{http1, http2} {
		for _, limit := range []time.Duration{0, time.Hour} {
			s := newCutter(t, protocol, &cutter{content: text(1 << 20), etag: `"1"`, after: 200_000})
			p, attempts, retries := quick(), []int(nil), 0
			p.AttemptTimeout = limit
			p.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
				info, ok := retryhttp.InfoFrom(ctx)
				assert.True(t, ok)
				attempts = append(attempts, info.Attempt+1)
				return nil, nil
			}
			p.OnRetry = func(context.Context, retry.Attempt, time.Duration) { retries++ }
			client := &http.Client{Transport: &retryhttp.Transport{Base: s.Client().Transport, Policy: p, Resume: true}}
			resp, err := client.Get(s.URL)
			require.NoError(t, err)
			hash := sha256.New()
			n, err := io.Copy(hash, resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.EqualValues(t, 1<<20, n)
			want := sha256.Sum256([]byte(s.content))
			assert.Equal(t, want[:], hash.Sum(nil))
			assert.EqualValues(t, 6, s.requests.Load())
			s.Close() // the handlers have ended
			assert.EqualValues(t, 1<<20, s.sent.Load(), "bytes sent")
			assert.Equal(t, []int{1, 2, 2, 2, 2, 2}, attempts)
			assert.Equal(t, 5, retries)
		}
	}
}

// TestNotResumed: what cannot be continued returns the error of its body, and nothing of
// another version of the resource.
func TestNotResumed(t *testing.T) {
	for _, tt := range []struct {
		name     string
		etag     string
		change   func(*http.Request)
		requests int64
	}{
		{"no ETag", "", func(*http.Request) {}, 1},
		{"weak ETag", `W/"1"`, func(*http.Request) {}, 1},
		{"range", `"1"`, func(r *http.Request) { r.Header.Set("Range", "bytes=0-5000") }, 1},
		{"POST", `"1"`, func(r *http.Request) { r.Method = "POST" }, 1},
		{"changed", `"N"`, func(*http.Request) {}, 2},
	} {
		s := newCutter(t, http1, &cutter{content: text(10_000), etag: tt.etag, after: 1000})
		req := request(t, "GET", "")
		req.URL = parse(t, s.URL)
		tt.change(req)
		resp, err := (&retryhttp.Transport{Base: s.Client().Transport, Policy: quick(), Resume: true}).RoundTrip(req)
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, tt.name)
		assert.Equal(t, s.content[:1000], string(data), tt.name)
		_, again := resp.Body.Read(make([]byte, 1))
		assert.Error(t, again, tt.name)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, tt.requests, s.requests.Load(), tt.name)
	}
}

// TestResumeGivesUp: without progress the policy's attempts are used up, and a Budget
// without tokens allows no resumption.
func TestResumeGivesUp(t *testing.T) {
	send := func(p retry.Policy) (requests int, err error) {
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			if requests++; requests > 1 {
				return nil, errReset
			}
			header := http.Header{"Etag": {`"1"`}}
			return &http.Response{StatusCode: 200, Header: header, ContentLength: 9, Body: io.NopCloser(io.MultiReader(strings.NewReader("abc"), failingReader{io.ErrUnexpectedEOF}))}, nil
		})
		resp, err := (&retryhttp.Transport{Base: base, Policy: p, Resume: true}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, resp.Body.Close())
		return requests, err
	}
	requests, err := send(quick())
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.ErrorIs(t, err, errReset)
	assert.Equal(t, 1+2, requests)

	p := quick()
	p.Budget = &retry.TokenBudget{Capacity: 1}
	requests, err = send(p)
	assert.ErrorIs(t, err, retry.ErrBudget)
	assert.Equal(t, 1, requests)
}
