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
	transport.Sign = func(*http.Request) (retryhttp.Refused, error) {
		cancel()
		return nil, nil
	}
	_, err := transport.RoundTrip(get.request(t, s.URL, "").WithContext(ctx))
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, isTimeout(err))
}

// TestQueueIsNoSilence: the time in which a request waits for its turn on a connection does not
// count.
func TestQueueIsNoSilence(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			busy := make(chan bool)
			s := newServer(t, http1, func(x *exchange) {
				<-busy
				ok(x)
			}, ok)
			s.base.MaxConnsPerHost = 1
			first := make(chan outcome, 1)
			holder := get.request(t, s.URL, "")
			go func() { first <- holder.send(t, s.base) }()
			require.True(t, settles(func() bool { arrived, _ := s.seen(); return len(arrived) == 1 }))
			transport := s.transport()
			transport.FirstByteTimeout, transport.Policy.MaxAttempts = time.Millisecond, retry.NoRetry
			failed := make(chan error, 1)
			queued := k.request(t, s.URL, text(10))
			ctx, cancel := context.WithTimeout(queued.Context(), 50*time.Millisecond)
			defer cancel()
			go func() {
				_, err := transport.RoundTrip(queued.WithContext(ctx))
				failed <- err
			}()
			err := <-failed
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotContains(t, err.Error(), "no response for 1ms")
			close(busy)
			(<-first).isRight(t)
		})
	}
}

// uploads is a Base that reads the request's body in parts, and waits before each of them and before
// it responds.
type uploads struct{ each, response time.Duration }

func (u uploads) RoundTrip(req *http.Request) (*http.Response, error) {
	part := make([]byte, 10)
	for {
		select {
		case <-time.After(u.each):
		case <-req.Context().Done():
			_ = req.Body.Close()
			return nil, req.Context().Err()
		}
		_, err := req.Body.Read(part)
		if err != nil {
			break
		}
	}
	_ = req.Body.Close()
	time.Sleep(u.response)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// TestUploads: the limits end an upload that stalls and a server that is silent after it, and neither
// a long upload nor one whose source is slow.
func TestUploads(t *testing.T) {
	for name, tt := range map[string]struct {
		base         uploads
		source       time.Duration // before each part of the body
		first, stall time.Duration
		failure      string
	}{
		"long":                           {base: uploads{each: 2 * time.Second}, first: 3 * time.Second, stall: 3 * time.Second},
		"a slow source":                  {base: uploads{each: time.Second}, source: time.Hour, first: 3 * time.Second, stall: 3 * time.Second},
		"silent after it":                {base: uploads{response: 4 * time.Second}, first: 3 * time.Second, failure: "no response for 3s"},
		"not so silent after it":         {base: uploads{response: 4 * time.Second}, first: 5 * time.Second, stall: 3 * time.Second},
		"stalls":                         {base: uploads{each: 4 * time.Second}, stall: 3 * time.Second, failure: "no progress of the request's body for 3s"},
		"stalls, only FirstByteTimeout":  {base: uploads{each: 4 * time.Second}, first: 3 * time.Second, failure: "no response for 3s"},
		"silent after it, StallTimeout":  {base: uploads{response: time.Hour}, stall: 3 * time.Second},
		"long, with the default of none": {base: uploads{each: time.Hour, response: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source, w := io.Pipe()
				go func() {
					for range 20 {
						time.Sleep(tt.source)
						if _, err := w.Write([]byte("0123456789")); err != nil {
							return
						}
					}
					_ = w.Close()
				}()
				transport := &retryhttp.Transport{Base: tt.base, FirstByteTimeout: tt.first, StallTimeout: tt.stall}
				req := request(t, http.MethodPost, "")
				req.Body = source
				resp, err := transport.RoundTrip(req)
				if tt.failure != "" {
					require.ErrorContains(t, err, tt.failure)
					assert.ErrorIs(t, err, retry.ErrUnrepeatable)
					assert.True(t, isTimeout(err))
					return
				}
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
			})
		})
	}
}

// TestUploadStalls: a real server that stops reading costs an attempt.
func TestUploadStalls(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		stuck := func(x *exchange) {
			_, _ = io.ReadFull(x.request.Body, make([]byte, 1<<20))
			<-x.request.Context().Done()
			abort(x)
		}
		if protocol == http1 { // its server notices only by reading
			stuck = func(x *exchange) {
				_, _ = io.ReadFull(x.request.Body, make([]byte, 1<<20))
				_ = settles(func() bool { arrived, _ := x.server.seen(); return len(arrived) > 1 })
				abort(x)
			}
		}
		s := newServer(t, protocol, stuck, ok)
		transport := s.transport()
		transport.StallTimeout, transport.Policy.MaxAttempts, transport.PerHost = 500*time.Millisecond, retry.Unlimited, unbudgeted()
		put.request(t, s.URL, text(32<<20)).send(t, transport).isRight(t)
		arrived, _ := s.seen()
		assert.GreaterOrEqual(t, len(arrived), 2)
	})
}

// TestLimitsAreValid: a limit that is negative, or can end nothing, is refused before a request is
// sent.
func TestLimitsAreValid(t *testing.T) {
	for name, tt := range map[string]struct {
		attempt, first, stall time.Duration
		fault                 string
	}{
		"none":                    {},
		"useful":                  {attempt: time.Minute, first: time.Second, stall: time.Second},
		"a negative first byte":   {first: -1, fault: "FirstByteTimeout is negative: -1ns"},
		"a negative stall":        {stall: -time.Second, fault: "StallTimeout is negative: -1s"},
		"a useless first byte":    {attempt: time.Second, first: time.Second, fault: "FirstByteTimeout 1s never ends an attempt"},
		"a useless stall":         {attempt: time.Second, stall: time.Minute, fault: "StallTimeout 1m0s never ends an attempt"},
		"the Policy's own report": {attempt: -1, fault: "AttemptTimeout"},
	} {
		t.Run(name, func(t *testing.T) {
			base := &script{replies: []reply{{status: 200}}}
			transport := &retryhttp.Transport{Base: base, FirstByteTimeout: tt.first, StallTimeout: tt.stall}
			transport.Policy.AttemptTimeout = tt.attempt
			_, err := transport.RoundTrip(request(t, "GET", ""))
			assert.Equal(t, err, transport.Validate())
			if tt.fault == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorIs(t, err, retry.ErrInvalid)
			assert.ErrorContains(t, err, tt.fault)
			assert.Empty(t, base.requests)
		})
	}
}

// TestNextAttemptDials: an attempt that a limit has ended, or that a server refused as misdirected, is
// followed by one over a new connection. Over HTTP/2, net/http would use the old one again.
func TestNextAttemptDials(t *testing.T) {
	for name, fault := range map[string]step{
		"silent":      hung(func(*exchange) {}),
		"misdirected": respond(http.StatusMisdirectedRequest, ""),
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, http2, fault, ok)
			transport := s.transport()
			transport.FirstByteTimeout, transport.Policy.MaxAttempts, transport.PerHost = 50*time.Millisecond, retry.Unlimited, unbudgeted()
			put.request(t, s.URL, text(10)).send(t, transport).isRight(t)
			assert.GreaterOrEqual(t, s.opened.Load(), int64(2))
		})
	}
}
