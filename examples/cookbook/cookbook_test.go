package cookbook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var errDown = errors.New("down")

// failing returns an operation that returns the given errors, one a call, and then nil.
func failing(calls *int, errs ...error) func(context.Context) error {
	return func(context.Context) error {
		*calls++
		if *calls <= len(errs) {
			return errs[*calls-1]
		}
		return nil
	}
}

func TestWaitForJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked []time.Duration
		job, err := WaitForJob(t.Context(), func(context.Context) (Job, error) {
			asked = append(asked, time.Since(start))
			switch len(asked) {
			case 1, 2:
				return Job{State: "running"}, nil
			case 3:
				return Job{}, errDown
			}
			return Job{State: "done", Result: "42"}, nil
		})
		require.NoError(t, err)
		assert.Equal(t, "42", job.Result)
		assert.Len(t, asked, 4)
		assert.Equal(t, 2*time.Second, asked[0])

		_, err = WaitForJob(t.Context(), func(context.Context) (Job, error) { return Job{State: "failed"}, nil })
		assert.EqualError(t, err, "the job failed")

		_, err = WaitForJob(t.Context(), func(context.Context) (Job, error) { return Job{State: "running"}, nil })
		assert.ErrorIs(t, err, retry.ErrMaxElapsed)
		assert.ErrorIs(t, err, errRunning)
	})
}

// answers is a RoundTripper that answers with one function after the other; the last one repeats.
type answers struct {
	list  []func(*http.Request) *http.Response
	calls int
}

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	i := min(a.calls, len(a.list)-1)
	a.calls++
	resp := a.list[i](req)
	resp.Request = req
	return resp, nil
}

func answer(status int, header ...string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("{}"))}
	}
}

func TestWaitForOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &answers{list: []func(*http.Request) *http.Response{
			answer(202, "Retry-After", "20"), answer(202), answer(202), answer(200),
		}}
		start := time.Now()
		resp, err := WaitForOperation(t.Context(), &http.Client{Transport: server}, "http://example.com/op")
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
		assert.InDelta(t, time.Minute, time.Since(start), float64(6*time.Second), "the hint of the first response is kept")
	})
}

func TestReadCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		v, err := ReadCreated(t.Context(), func(context.Context) (int, error) {
			calls++
			if calls < 4 {
				return 0, retry.Permanent(ErrNotFound)
			}
			return 7, nil
		})
		require.NoError(t, err)
		assert.Equal(t, 7, v)

		_, err = ReadCreated(t.Context(), func(context.Context) (int, error) { return 0, ErrNotFound })
		assert.ErrorIs(t, err, ErrNotFound)
		assert.ErrorIs(t, err, retry.ErrMaxElapsed)
	})
}

func TestStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		require.NoError(t, Stable(t.Context(), failing(&calls, nil, nil, errDown, nil)))
		assert.Equal(t, 6, calls)

		err := Stable(t.Context(), func(context.Context) error { return errDown })
		assert.ErrorIs(t, err, errDown)
	})
}

func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, check := range map[int]func(context.Context) error{
			http.StatusOK: func(context.Context) error { return nil },
			http.StatusServiceUnavailable: func(ctx context.Context) error { // hangs
				<-ctx.Done()
				return ctx.Err()
			},
		} {
			w := httptest.NewRecorder()
			Ready(check)(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
			assert.Equal(t, want, w.Code)
		}
	})
}

func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		require.NoError(t, Start(t.Context(), func(context.Context) error { return nil }))
		assert.Less(t, time.Since(start), time.Minute)

		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, Start(canceled, func(context.Context) error { panic("not called") }), context.Canceled)
	})
}

func TestFirstAtOnce(t *testing.T) {
	rest := retry.Exponential{Base: time.Second}
	rule := FirstAtOnce(rest)
	assert.Zero(t, rule.Delay(retry.Attempt{Number: 1}, 0))
	assert.Equal(t, time.Second, rule.Delay(retry.Attempt{Number: 2}, 0))
	assert.Equal(t, 2*time.Second, rule.Delay(retry.Attempt{Number: 3}, 0))
	throttled := retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassThrottled}}
	assert.Equal(t, time.Second, rule.Delay(throttled, 0))
}

func TestWithMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := WithMoreTime(t.Context(), retry.Policy{}, time.Second, func(ctx context.Context) error {
			calls++
			select {
			case <-time.After(2500 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		require.NoError(t, err)
		assert.Equal(t, 3, calls)
	})
}

func TestPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := retry.Throttled(errors.New("slow down"))
		calls := 0
		require.NoError(t, Patient(t.Context(), failing(&calls, busy, busy, errDown, busy, busy, busy, errDown, busy)))
		assert.Equal(t, 9, calls)

		calls = 0
		assert.ErrorIs(t, Patient(t.Context(), failing(&calls, busy, errDown, busy, errDown, errDown)), errDown)
		assert.Equal(t, 5, calls)
	})
}

func TestNumbered(t *testing.T) {
	var numbers []int
	err := Numbered(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, func(_ context.Context, n int) error {
		numbers = append(numbers, n)
		return errDown
	})
	assert.ErrorIs(t, err, errDown)
	assert.Equal(t, []int{1, 2, 3}, numbers)
}

func TestVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		skip := make(chan struct{})
		var shown []string
		policy := Visible(retry.Policy{Backoff: retry.Constant(time.Hour)}, func(err error, wait time.Duration) {
			shown = append(shown, fmt.Sprintf("%v, again in %v", err, wait))
		}, skip)
		start := time.Now()
		calls := 0
		go func() {
			time.Sleep(time.Minute)
			skip <- struct{}{}
		}()
		require.NoError(t, retry.Do(t.Context(), policy, failing(&calls, errDown)))
		assert.Equal(t, []string{"down, again in 1h0m0s"}, shown)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shutdown, stop := context.WithCancel(t.Context())
		err := Drained(shutdown, retry.Policy{}, func(ctx context.Context) error {
			stop()
			time.Sleep(time.Second) // is not interrupted
			return ctx.Err()
		})
		require.NoError(t, err)

		shutdown, stop = context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		start := time.Now()
		err = Drained(shutdown, retry.Policy{Backoff: retry.Constant(time.Hour)}, func(context.Context) error { return errDown })
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Minute, time.Since(start), "the wait has ended")
	})
}

func TestLogDoublings(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	policy := LogDoublings(retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 10}, log)
	assert.Error(t, retry.Do(t.Context(), policy, func(context.Context) error { return errDown }))
	assert.Equal(t, 4, strings.Count(out.String(), "will retry"), out.String())
	assert.Contains(t, out.String(), "attempt=8")
}

var quickly = retry.Policy{Backoff: retry.Constant(time.Millisecond)}

func TestThroughProxies(t *testing.T) {
	var mu sync.Mutex
	var used []string
	proxy := func(name string, status int) *url.URL {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			used = append(used, name+" for "+req.URL.Host)
			w.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		address, err := url.Parse(server.URL)
		require.NoError(t, err)
		return address
	}
	client := ThroughProxies(quickly, []*url.URL{proxy("first", 503), proxy("second", 200)})
	resp, err := client.Get("http://example.com/")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, []string{"first for example.com", "second for example.com"}, used)
}

func TestServers(t *testing.T) {
	good := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer good.Close()
	bad := httptest.NewServer(http.NotFoundHandler())
	bad.Close() // refuses connections
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	servers := Servers{Hosts: []string{host(bad), host(good)}, Base: http.DefaultTransport}
	client := &http.Client{Transport: &retryhttp.Transport{Policy: quickly, Base: servers}}
	resp, err := client.Get("http://api.example.com/")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 200, resp.StatusCode)
}

func TestKeyed(t *testing.T) {
	var keys []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		keys = append(keys, req.Header.Get("PayPal-Request-Id"))
		if len(keys)%2 == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	client := Keyed(quickly)

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("{}"))
	require.NoError(t, err)
	req.Header.Set("PayPal-Request-Id", "order-17")
	resp, err := client.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, []string{"order-17", "order-17"}, keys)

	resp, err = client.Post(server.URL, "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 503, resp.StatusCode, "without a key, a POST is sent once")
}

func TestUpload(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		got = append(got, string(body))
		if len(got) == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte("content"), 0o600))
	client := retryhttp.NewClient(quickly)
	require.NoError(t, Upload(t.Context(), client, server.URL, name))
	assert.Equal(t, []string{"content", "content"}, got)
	assert.ErrorIs(t, Upload(t.Context(), client, server.URL, name+"x"), os.ErrNotExist)
}

func TestItems(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		requests++
		switch {
		case req.FormValue("cursor") == "":
			fmt.Fprint(w, `{"items": ["a", "b"], "next": "2"}`)
		case requests == 2:
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"items": ["c`) // and then the connection breaks
		default:
			fmt.Fprint(w, `{"items": ["c"]}`)
		}
	}))
	defer server.Close()
	var items []string
	for item, err := range Items(t.Context(), retryhttp.NewClient(quickly), server.URL) {
		require.NoError(t, err)
		items = append(items, item)
	}
	assert.Equal(t, []string{"a", "b", "c"}, items)
	assert.Equal(t, 3, requests)
}

// TestItemsAgain: a server that returns a cursor again does not keep the loop for ever.
func TestItemsAgain(t *testing.T) {
	for name, next := range map[string][]string{
		"the same":  {"a", "a"},
		"in a ring": {"a", "b", "c", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				fmt.Fprintf(w, `{"items": ["x"], "next": %q}`, next[min(requests, len(next)-1)])
				requests++
			}))
			defer server.Close()
			var items []string
			var last error
			for item, err := range Items(t.Context(), retryhttp.NewClient(quickly), server.URL) {
				last = err
				if err != nil || len(items) > 100 {
					break
				}
				items = append(items, item)
			}
			assert.EqualError(t, last, `the server returned the cursor "a" a second time`)
			assert.Len(t, items, len(next))
			assert.Equal(t, len(next), requests)
		})
	}
}

func TestAskAny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := func(name string, err error) Provider {
			return Provider{name, func(context.Context, string) (string, error) { return name, err }}
		}
		policy := retry.Policy{MaxAttempts: 2}
		down, good := provider("down", errDown), provider("good", nil)
		got, err := AskAny(t.Context(), policy, []Provider{down, good}, "why?")
		require.NoError(t, err)
		assert.Equal(t, "good", got)

		wrong := provider("wrong", retry.Permanent(errors.New("no such model")))
		_, err = AskAny(t.Context(), policy, []Provider{wrong, good}, "why?")
		assert.EqualError(t, err, "wrong: no such model")

		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = AskAny(canceled, policy, []Provider{down, good}, "why?")
		assert.ErrorIs(t, err, context.Canceled)
	})
}

type noLimit struct{}

func (noLimit) Wait(context.Context) error { return nil }

func TestTenants(t *testing.T) {
	tenants := &Tenants{Limiter: func(string) retry.Limiter { return noLimit{} }}
	a, b := tenants.Policy("a"), tenants.Policy("b")
	assert.Same(t, a.Budget, tenants.Policy("a").Budget)
	assert.NotSame(t, a.Budget, b.Budget)
}

func TestDeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		d := &Delivery{ID: "17"}
		for {
			finished, err := Deliver(t.Context(), d, func(context.Context) error { return errDown })
			require.ErrorIs(t, err, errDown)
			if finished {
				break
			}
			time.Sleep(time.Until(d.Due))
		}
		assert.Equal(t, 8, d.Failed)
		assert.InDelta(t, 24*time.Hour, time.Since(start), float64(3*time.Hour))

		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		d = &Delivery{ID: "18"}
		finished, err := Deliver(canceled, d, func(ctx context.Context) error { return ctx.Err() })
		assert.Error(t, err)
		assert.False(t, finished, "a shutdown is not the end of a delivery")
		assert.Zero(t, d.Failed)

		finished, err = Deliver(t.Context(), d, func(context.Context) error { return nil })
		assert.NoError(t, err)
		assert.True(t, finished)
	})
}

// TestPost: a receiver that is busy, or that does not answer, gets the webhook again.
func TestPost(t *testing.T) {
	for name, tt := range map[string]struct {
		handle   http.HandlerFunc
		finished bool
	}{
		"accepted":      {func(http.ResponseWriter, *http.Request) {}, true},
		"busy":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, false},
		"response lost": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
		"gone":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			ids := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ids <- r.Header.Get("Webhook-Id")
				tt.handle(w, r)
			}))
			defer server.Close()
			d := &Delivery{ID: "17"}
			finished, _ := Deliver(t.Context(), d, func(ctx context.Context) error {
				return Post(ctx, d.ID, server.URL, []byte("{}"))
			})
			assert.Equal(t, tt.finished, finished)
			assert.Equal(t, "17", <-ids)
		})
	}
}
