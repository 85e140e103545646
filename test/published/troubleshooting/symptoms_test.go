package troubleshooting

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

var ErrGone = errors.New("the order is gone")

// symptoms are programs whose error says what was noticed.
var symptoms = map[string]program{
	"An error is retried in vain": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}}
		if mended {
			policy.Classifier = retry.PermanentIf(ErrGone)
		}
		op := retrytest.Script(ErrGone)
		err := retry.Do(t.Context(), policy, op.Run)
		assert.ErrorIs(t, err, ErrGone)
		return unless(op.Calls() == 1, "%d attempts", op.Calls())
	},
	"Nine requests instead of three": func(t *testing.T, mended bool) error {
		var requests atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		defer server.Close()
		client := retryhttp.NewClient(retry.Policy{Backoff: retry.NoDelay{}, Budget: retry.NoBudget{}})
		err := retry.Do(t.Context(), quick, func(ctx context.Context) error {
			resp, err := client.Do(request(t, "GET", server.URL, nil).WithContext(ctx))
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if !mended {
				return fmt.Errorf("status %d", resp.StatusCode)
			}
			return retryhttp.CheckStatus(resp)
		})
		assert.Error(t, err)
		return unless(requests.Load() == 3, "%d requests", requests.Load())
	},
	"The first wait is a second": func(t *testing.T, mended bool) error {
		clock := &retrytest.Clock{}
		policy := retry.Policy{Clock: clock, Rand: retrytest.Fixed(0.99)}
		if mended {
			policy.Backoff = retry.FullJitter{Base: 50 * time.Millisecond, Cap: 20 * time.Second}
		}
		assert.NoError(t, retry.Do(t.Context(), policy, retrytest.Fail(1, retry.Throttled(errors.New("busy"))).Run))
		return unless(clock.Waits()[0] < 100*time.Millisecond, "a wait of %v", clock.Waits()[0])
	},
	"A call waits for minutes": func(t *testing.T, mended bool) error {
		clock := &retrytest.Clock{}
		policy := retry.Policy{Clock: clock}
		if mended {
			policy.Hint = retry.HintOrGiveUp{Max: 10 * time.Second}
		}
		err := retry.Do(t.Context(), policy, retrytest.Fail(1, retry.After(errors.New("busy"), 5*time.Minute)).Run)
		assert.Equal(t, mended, errors.Is(err, retry.ErrHint))
		return unless(len(clock.Waits()) == 0, "it waits for %v", clock.Waits())
	},
	"Workers give up while a server restarts": func(t *testing.T, mended bool) error {
		policy := retry.Policy{Clock: &retrytest.Clock{}, MaxElapsed: time.Minute}
		if mended {
			policy.Budget = retry.NoBudget{}
		}
		url := answers(t, 503, 503, 503, 503, 503, 503, 503, 503, 503, 503).URL
		return send(retryhttp.NewClient(policy), request(t, "GET", url, nil))
	},
	"A signer has no `GetBody`": func(t *testing.T, mended bool) error {
		var failed error
		transport := &retryhttp.Transport{Policy: quick}
		transport.Wrap = func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				if !mended {
					_, failed = sign(req)
				}
				return base.RoundTrip(req)
			})
		}
		if mended {
			transport.Sign = sign
		}
		err := send(&http.Client{Transport: transport}, request(t, "PUT", answers(t).URL, strings.NewReader("content")))
		return errors.Join(err, failed)
	},
	"Throttling again and again": func(t *testing.T, mended bool) (noticed error) {
		synctest.Test(t, func(t *testing.T) {
			policy := retry.Policy{MaxElapsed: time.Minute}
			if mended {
				policy.Limiter = &ratelimit.Limiter{Limit: ratelimit.Limit{Rate: 10, Burst: 10}}
			}
			refused := callAtOnce(t, policy)
			noticed = unless(refused == 0, "%d refusals", refused)
		})
		return noticed
	},
	"Tests take seconds": func(t *testing.T, mended bool) (noticed error) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			policy := retry.Policy{Backoff: retry.Constant(time.Second)}
			if mended {
				policy.Clock = &retrytest.Clock{}
			}
			assert.NoError(t, retry.Do(t.Context(), policy, retrytest.Fail(2, ErrGone).Run))
			noticed = unless(time.Since(start) == 0, "it took %v", time.Since(start))
		})
		return noticed
	},
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// sign adds a signature of the body.
func sign(req *http.Request) (retryhttp.Refused, error) {
	if req.GetBody == nil {
		return nil, errors.New("a request without GetBody")
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, body)
	req.Header.Set("X-Signature", hex.EncodeToString(sum.Sum(nil)))
	return nil, err
}

func unless(fine bool, format string, args ...any) error {
	if fine {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// callAtOnce makes 50 calls of a server that allows ten in a second, and returns how often it
// refused one.
func callAtOnce(t *testing.T, policy retry.Policy) (refused int) {
	var mu sync.Mutex
	tokens, last := 10.0, time.Now()
	op := func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		tokens = min(10, tokens+10*time.Since(last).Seconds())
		last = time.Now()
		if tokens < 1 {
			refused++
			return retry.Throttled(errors.New("too many requests"))
		}
		tokens--
		return nil
	}
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() { assert.NoError(t, retry.Do(t.Context(), policy, op)) })
	}
	calls.Wait()
	return refused
}
