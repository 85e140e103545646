package retryhttp_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// hung executes the request, sends the beginning of a response, if there is one, and then
// nothing more.
func hung(begin step) step {
	return func(x *exchange) {
		x.process()
		begin(x)
		<-x.request.Context().Done()
		abort(x)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// TestFirstByteTimeout: a server that accepts the request and does not answer costs an
// attempt, which is retried if the request may be repeated.
func TestFirstByteTimeout(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, hung(func(*exchange) {}), ok)
				s.warm(t, s.base)
				transport := s.transport()
				transport.FirstByteTimeout = 20 * time.Millisecond
				transport.Policy.MaxAttempts = retry.Unlimited
				got := k.request(t, s.URL, text(10)).send(t, transport)
				if k.repeatable {
					got.isRight(t)
					return
				}
				require.ErrorIs(t, got.err, retry.ErrUnrepeatable)
				assert.ErrorContains(t, got.err, "no response for 20ms")
				assert.ErrorIs(t, got.err, context.DeadlineExceeded)
				assert.True(t, isTimeout(got.err))
				_, executed := s.seen()
				assert.LessOrEqual(t, len(executed), 1)
			})
		})
	}
}

// TestStallTimeout: a body that stalls fails. Within the attempt, it is retried.
func TestStallTimeout(t *testing.T) {
	begins := func(x *exchange) { x.begin(http.StatusOK, 1000, "only the begi") }
	overBoth(t, func(t *testing.T, protocol string) {
		s := newServer(t, protocol, hung(begins))
		transport := s.transport()
		transport.StallTimeout = 20 * time.Millisecond
		got := get.request(t, s.URL, "").send(t, transport)
		require.NoError(t, got.err)
		assert.Equal(t, "only the begi", got.body)
		assert.True(t, isTimeout(got.bodyErr), got.bodyErr)
		assert.NotErrorIs(t, got.bodyErr, context.Canceled)
		assert.ErrorContains(t, got.bodyErr, "no byte of the body for 20ms")

		s = newServer(t, protocol, hung(begins), ok)
		transport = s.transport()
		transport.StallTimeout, transport.MaxRead, transport.Policy.MaxAttempts = 20*time.Millisecond, 1<<20, retry.Unlimited
		get.request(t, s.URL, "").send(t, transport).isRight(t)
	})
}

// slowly is a Base that waits before its responses and before each byte of their bodies.
// Like some others, it does not follow the context of the request.
func slowly(response, each time.Duration, sent string) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		time.Sleep(response)
		r, w := io.Pipe()
		go func() {
			for i := range len(sent) {
				time.Sleep(each)
				if _, err := w.Write([]byte{sent[i]}); err != nil {
					return
				}
			}
			_ = w.Close()
		}()
		return &http.Response{StatusCode: http.StatusOK, ContentLength: int64(len(sent)), Body: r, Request: req}, nil
	})
}

// TestTimesThatLast: the limits end what they name, not what takes long for another reason.
func TestTimesThatLast(t *testing.T) {
	for name, tt := range map[string]struct {
		first, each, reader time.Duration
		failure             string
	}{
		"just in time":      {first: 10*time.Second - 1, each: 3*time.Second - 1},
		"a slow reader":     {first: time.Second, each: time.Second, reader: time.Hour},
		"a late response":   {first: 10*time.Second + 1, failure: "no response for 10s"},
		"a byte comes late": {each: 3*time.Second + 1, failure: "no byte of the body for 3s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const sent = "a body of some length"
				defer time.Sleep(time.Minute) // the Base has noticed
				transport := &retryhttp.Transport{Base: slowly(tt.first, tt.each, sent), FirstByteTimeout: 10 * time.Second, StallTimeout: 3 * time.Second}
				resp, err := transport.RoundTrip(request(t, "GET", ""))
				if err == nil {
					var data []byte
					time.Sleep(tt.reader)
					data, err = io.ReadAll(resp.Body)
					assert.True(t, strings.HasPrefix(sent, string(data)))
					require.NoError(t, resp.Body.Close())
				}
				if tt.failure != "" {
					assert.ErrorContains(t, err, tt.failure)
					assert.True(t, isTimeout(err))
					return
				}
				assert.NoError(t, err)
			})
		})
	}
}

// TestResponseAtTheLimit: a response that arrives when its time is over is an error, or it can be
// read.
func TestResponseAtTheLimit(t *testing.T) {
	for range 1000 {
		synctest.Test(t, func(t *testing.T) {
			base := roundTripper(func(req *http.Request) (*http.Response, error) {
				time.Sleep(time.Second)
				body := readerFunc(func([]byte) (int, error) { return 0, cmp.Or(req.Context().Err(), io.EOF) })
				return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(body), Request: req}, nil
			})
			resp, err := (&retryhttp.Transport{Base: base, FirstByteTimeout: time.Second, Policy: retry.Policy{MaxAttempts: 1}}).RoundTrip(request(t, "GET", ""))
			if err != nil {
				assert.True(t, isTimeout(err))
				return
			}
			synctest.Wait()
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
		})
	}
}

// TestLimitsAndCancellation: if the caller cancels, that is the error, and nothing is retried.
func TestLimitsAndCancellation(t *testing.T) {
	s := newServer(t, http1, hung(func(*exchange) {}))
	transport := s.transport()
	transport.FirstByteTimeout, transport.StallTimeout = time.Hour, time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	transport.Prepare = func(context.Context, http.Header) { cancel() }
	_, err := transport.RoundTrip(get.request(t, s.URL, "").WithContext(ctx))
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, isTimeout(err))
}
