package legacyhttp_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/legacy/legacyhttp"
)

// The types are those of go-retryablehttp, as far as the settings depend on them.
type (
	logger interface{ Printf(string, ...any) }
	client struct {
		HTTPClient      *http.Client
		Logger          any
		RetryWaitMin    time.Duration
		RetryWaitMax    time.Duration
		RetryMax        int
		RequestLogHook  requestLogHook
		ResponseLogHook func(logger, *http.Response)
		CheckRetry      checkRetry
		Backoff         backoff
		ErrorHandler    errorHandler
	}
	requestLogHook func(logger, *http.Request, int)
	checkRetry     func(context.Context, *http.Response, error) (bool, error)
	backoff        func(low, high time.Duration, n int, resp *http.Response) time.Duration
	errorHandler   func(*http.Response, error, int) (*http.Response, error)
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

var errBroken = errors.New("broken")

// unwilling is a server that fails until it has got so many requests.
type unwilling struct {
	failures int
	status   int // 0: no response
	bodies   []string
	times    []time.Duration
	start    time.Time
}

func (s *unwilling) client() *client {
	s.start = time.Now()
	return &client{
		HTTPClient: &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			body := ""
			if req.Body != nil {
				content, _ := io.ReadAll(req.Body)
				body = string(content)
			}
			s.bodies = append(s.bodies, body)
			s.times = append(s.times, time.Since(s.start))
			resp := &http.Response{StatusCode: 200, Request: req, Body: io.NopCloser(strings.NewReader("answer"))}
			if len(s.bodies) <= s.failures {
				if resp.StatusCode = s.status; s.status == 0 {
					return nil, errBroken
				}
			}
			return resp, nil
		})},
		RetryWaitMin: time.Second,
		RetryWaitMax: time.Minute,
		RetryMax:     2,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			return err != nil || resp.StatusCode >= 500, nil
		},
		Backoff: func(low, _ time.Duration, n int, _ *http.Response) time.Duration { return low << n },
	}
}

func TestClient(t *testing.T) {
	handled := errors.New("handled")
	pass := errorHandler(func(resp *http.Response, err error, _ int) (*http.Response, error) { return resp, err })
	for _, c := range []struct {
		name   string
		server unwilling
		change func(*client)
		times  []time.Duration
		status int
		err    error
		text   string
	}{
		{name: "success", times: []time.Duration{0}, status: 200},
		{name: "second attempt", server: unwilling{failures: 1}, times: []time.Duration{0, time.Second}, status: 200},
		{name: "not retried", server: unwilling{failures: 1, status: 404}, times: []time.Duration{0}, status: 404},
		{
			name: "gives up with a status", server: unwilling{failures: 9, status: 500}, times: []time.Duration{0, time.Second, 3 * time.Second},
			text: `Post "http://host/": POST http://host/ giving up after 3 attempt(s)`,
		},
		{
			name: "gives up with an error", server: unwilling{failures: 9}, times: []time.Duration{0, time.Second, 3 * time.Second},
			err: errBroken, text: `Post "http://host/": POST http://host/ giving up after 3 attempt(s): Post "http://host/": broken`,
		},
		{
			name: "passes the last response", server: unwilling{failures: 9, status: 500}, times: []time.Duration{0, time.Second, 3 * time.Second},
			change: func(c *client) { c.ErrorHandler = pass }, status: 500,
		},
		{
			name: "passes the last error", server: unwilling{failures: 9}, times: []time.Duration{0},
			change: func(c *client) { c.ErrorHandler, c.RetryMax = pass, 0 }, err: errBroken, text: `Post "http://host/": broken`,
		},
		{
			name: "an error of CheckRetry", server: unwilling{failures: 1, status: 500}, times: []time.Duration{0},
			change: func(c *client) {
				c.CheckRetry = func(context.Context, *http.Response, error) (bool, error) { return false, handled }
			},
			err: handled, text: `Post "http://host/": POST http://host/ giving up after 1 attempt(s): handled`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settings := c.server.client()
				if c.change != nil {
					c.change(settings)
				}
				resp, err := legacyhttp.Client(settings).Post("http://host/", "text/plain", io.MultiReader(strings.NewReader("question")))
				if c.status != 0 {
					require.NoError(t, err)
					assert.Equal(t, c.status, resp.StatusCode)
					content, err := io.ReadAll(resp.Body)
					require.NoError(t, err)
					assert.Equal(t, "answer", string(content))
				} else {
					assert.EqualError(t, err, c.text)
					assert.True(t, c.err == nil || errors.Is(err, c.err))
				}
				assert.Equal(t, c.times, c.server.times)
				for _, body := range c.server.bodies {
					assert.Equal(t, "question", body)
				}
			})
		})
	}
}

func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := unwilling{failures: 1, status: 503}
		c := server.client()
		var numbers, statuses []int
		c.RequestLogHook = func(_ logger, _ *http.Request, n int) { numbers = append(numbers, n) }
		c.ResponseLogHook = func(l logger, resp *http.Response) {
			assert.Equal(t, c.Logger == nil, l == nil)
			statuses = append(statuses, resp.StatusCode)
		}
		for _, c.Logger = range []any{nil, log.New(io.Discard, "", 0)} {
			server.bodies = nil
			_, err := legacyhttp.Client(c).Get("http://host/")
			require.NoError(t, err)
		}
		assert.Equal(t, []int{0, 1, 0, 1}, numbers)
		assert.Equal(t, []int{503, 200, 503, 200}, statuses)
	})
}

func TestPrepareRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := unwilling{failures: 9}
		prepared := 0
		c := &struct {
			client
			PrepareRetry func(*http.Request) error
		}{*server.client(), func(req *http.Request) error {
			if prepared++; prepared == 2 {
				return errBroken
			}
			return nil
		}}
		_, err := legacyhttp.Client(c).Get("http://host/")
		assert.ErrorIs(t, err, errBroken)
		assert.Equal(t, 2, prepared)
		assert.Equal(t, []time.Duration{0, time.Second}, server.times)
	})
}

func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		server := unwilling{failures: 9, status: 500}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://host/", nil)
		require.NoError(t, err)
		resp, err := legacyhttp.Do(server.client(), req, func() ([]byte, error) { return nil, nil })
		assert.Nil(t, resp)
		assert.True(t, err == context.DeadlineExceeded, "%v", err)
		assert.Len(t, server.times, 2)

		_, err = legacyhttp.Do(server.client(), req, func() ([]byte, error) { return nil, errBroken })
		assert.ErrorIs(t, err, errBroken)
		req.Body = io.NopCloser(failing{})
		_, err = legacyhttp.Client(server.client()).Do(req)
		assert.ErrorIs(t, err, errBroken)
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }
