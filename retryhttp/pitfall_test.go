package retryhttp_test

// Cases in which retrying HTTP clients have gone wrong, on real sockets. Each
// fails with the behaviour that its comment describes.

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

var (
	post = kinds[0]
	get  = kinds[2]
	put  = kinds[3]
)

// asks answers 429 with the header Retry-After.
func asks(date, after string) step {
	return func(x *exchange) {
		x.Header().Set("Date", date)
		x.Header().Set("Retry-After", after)
		answer(http.StatusTooManyRequests, "later")(x)
	}
}

// TestRetryAfterIsFollowedOrReturned: what a server asks for is waited for if it
// is reasonable; if not the answer comes back at once. Others wait for 55 years
// if they are told the time of day as a number (go-retryablehttp,
// failsafe-go), or not at all after an overflow (go-retryablehttp); do not
// know two of the three forms of dates (go-retryablehttp) or any
// (failsafe-go); or take -1 for a wish (failsafe-go).
func TestRetryAfterIsFollowedOrReturned(t *testing.T) {
	const own = time.Millisecond // the wait without a wish
	for _, c := range []struct {
		after string
		wait  time.Duration // 0: the answer comes back
	}{
		{"1743434408", own}, // the Date itself, in seconds since 1970
		{"1743434438", 30 * time.Second},
		{"1743434408000", 0}, // the unit is the second, so this is far ahead
		{"9223372037", 0},    // overflows 64 bits of nanoseconds
		{"99999999999999999999", 0},
		{"61", 0}, // more than the default rule allows
		{"60", time.Minute},
		{"3", 3 * time.Second},
		{" 3 ", 3 * time.Second},
		{"3.0", 3 * time.Second},
		{"0", own},
		{"-1", own},
		{"soon", own},
		{"1e9", own},
		{"Mon, 31 Mar 2025 15:20:28 GMT", 20 * time.Second},
		{"Monday, 31-Mar-25 15:20:28 GMT", 20 * time.Second},
		{"Mon Mar 31 15:20:28 2025", 20 * time.Second},
		{"Mon, 31 Mar 2025 15:20:07 GMT", own}, // past
		{"Fri, 31 Dec 2999 23:59:59 GMT", 0},
	} {
		t.Run(c.after, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, asks("Mon, 31 Mar 2025 15:20:08 GMT", c.after), ok)
				clock, transport := &retrytest.Clock{}, s.transport()
				transport.Policy = retry.Policy{Backoff: retry.Constant(own), Clock: clock, Rand: retrytest.Fixed(0)}
				o := post.request(t, s.URL, text(10)).send(t, transport)
				if c.wait == 0 {
					assert.Equal(t, outcome{status: http.StatusTooManyRequests, body: "later"}, o)
					assert.Empty(t, clock.Waits())
					return
				}
				o.isRight(t)
				assert.Equal(t, []time.Duration{c.wait}, clock.Waits())
			})
		})
	}
}

// hinting turns answers into errors that ask for a wait, as some middleware does.
type hinting struct {
	http.RoundTripper
	wait time.Duration
}

type hintError time.Duration

func (e hintError) Error() string             { return "come back in " + time.Duration(e).String() }
func (e hintError) RetryAfter() time.Duration { return time.Duration(e) }

func (h hinting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := h.RoundTripper.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
		err = hintError(h.wait)
	}
	return nil, err
}

// TestHintOfErrorIsBounded: an error from below that asks for 55 years does not
// get them. Rerun sleeps as long as it is told.
func TestHintOfErrorIsBounded(t *testing.T) {
	const years = 55 * 365 * 24 * time.Hour
	for _, c := range []struct {
		name   string
		rule   retry.HintRule
		reason error
		waits  []time.Duration
	}{
		{"default", nil, retry.ErrHint, nil},
		{"clamped", retry.HintAtLeast{Max: time.Second}, retry.ErrMaxAttempts, []time.Duration{time.Second, time.Second}},
		{"ignored", retry.HintIgnore{}, retry.ErrMaxAttempts, []time.Duration{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, ok)
				clock, transport := &retrytest.Clock{}, s.transport()
				transport.Base = hinting{s.base, years}
				transport.Policy.Clock, transport.Policy.Hint = clock, c.rule
				o := get.request(t, s.URL, "").send(t, transport)
				assert.ErrorIs(t, o.err, c.reason)
				assert.ErrorIs(t, o.err, hintError(years))
				assert.Equal(t, c.waits, clock.Waits())
				arrived, _ := s.seen()
				assert.Len(t, arrived, len(c.waits)+1)
			})
		})
	}
}

// endless sends the beginning of a body, and stalls until the client has gone.
func endless(x *exchange) {
	x.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(x, "wait for it")
	_ = http.NewResponseController(x.ResponseWriter).Flush()
	<-x.request.Context().Done()
	abort(x)
}

// unknown sends a body without its length.
func unknown(length int) step {
	return func(x *exchange) {
		x.WriteHeader(http.StatusServiceUnavailable)
		_ = http.NewResponseController(x.ResponseWriter).Flush()
		_, _ = io.WriteString(x, text(length))
	}
}

// visitClock sends another request during each wait.
type visitClock struct {
	retrytest.Clock
	visit func()
}

func (c *visitClock) Sleep(ctx context.Context, d time.Duration) error {
	c.visit()
	return c.Clock.Sleep(ctx, d)
}

// TestFailedAnswersHoldNoConnection: the connection of an answer that is
// followed by a retry serves that, if the answer is short, and in any case it is
// free while the call waits, also where there may be only one. Failsafe-go
// leaves the bodies of these answers open: ten attempts take ten connections,
// and where only one is allowed the second attempt waits for ever.
// Go-retryablehttp gives up connections for bodies above 4 KiB.
func TestFailedAnswersHoldNoConnection(t *testing.T) {
	for _, c := range []struct {
		name     string
		failure  step
		attempts int
		conns1   int64 // over HTTP/1.1; HTTP/2 needs one
	}{
		{"empty body", answer(503, ""), 10, 1},
		{"20 KB", answer(503, text(20_000)), 10, 1},
		{"20 KB of unknown length", unknown(20_000), 10, 1},
		{"64 KiB", answer(503, text(64<<10)), 10, 1},
		{"1 MiB", answer(503, text(1<<20)), 5, 5},
		{"1 MiB of unknown length", unknown(1 << 20), 5, 5},
		{"stalled body", endless, 3, 3},
	} {
		for _, most := range []int{0, 1} {
			t.Run(c.name+map[int]string{0: "", 1: "/one connection"}[most], func(t *testing.T) {
				overBoth(t, func(t *testing.T, protocol string) {
					script := make([]step, c.attempts)
					for i := range script {
						script[i] = c.failure
					}
					script[c.attempts-1] = ok
					s := newServer(t, protocol, script...)
					s.base.MaxConnsPerHost = most
					transport := s.transport()
					transport.Policy.MaxAttempts = c.attempts
					// A connection that is not free now would never be.
					clock := &visitClock{visit: func() { s.warm(t, s.base) }}
					transport.Policy.Clock = clock
					post.request(t, s.URL, text(10)).withKey().send(t, transport).isRight(t)
					assert.Len(t, clock.Waits(), c.attempts-1)
					want := int64(1)
					if protocol == http1 {
						want = c.conns1
					}
					assert.Equal(t, want, s.opened.Load())
				})
			})
		}
	}
}

// file is a body that can be sought, and that this package does not know.
type file struct {
	*strings.Reader
	sought atomic.Int64
	closed atomic.Int64
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	f.sought.Add(1)
	return f.Reader.Seek(offset, whence)
}

func (f *file) Close() error {
	f.closed.Add(1)
	return nil
}

// TestBodyIsNeverRewound: a body that is sent from its middle is sent from
// there in every attempt, or in one only. Go-retryablehttp seeks the live body
// to its beginning: too many bytes for the length that was announced, and a
// data race with the attempt before, which may still be reading.
func TestBodyIsNeverRewound(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    step
		buffer   int64
		executed []string
	}{
		{"answer, sent once", answer(503, "later"), 0, []string{"56789"}},
		{"answer, too long for the buffer", answer(503, "later"), 4, []string{"56789"}},
		{"answer, buffered", answer(503, "later"), 5, []string{"56789", "56789", "56789"}},
		{"reset, sent once", reset, 0, []string{"56789"}},
		{"reset, too long for the buffer", reset, 4, []string{"56789"}},
		{"reset, buffered", reset, 5, []string{"56789", "56789", "56789"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, processed(c.fault))
				body := &file{Reader: strings.NewReader("0123456789")}
				_, err := body.Reader.Seek(5, io.SeekStart)
				require.NoError(t, err)
				req := get.request(t, s.URL, "")
				req.Request, err = http.NewRequestWithContext(req.Context(), http.MethodPut, s.URL, body)
				require.NoError(t, err)
				req.before = req.Clone(req.Context())
				transport := s.transport()
				transport.MaxBuffer = c.buffer
				o := req.send(t, transport)
				if o.err == nil {
					assert.Equal(t, outcome{status: 503, body: "later"}, o)
				} else if len(c.executed) == 1 {
					assert.ErrorIs(t, o.err, retry.ErrUnrepeatable)
				}
				_, executed := s.seen()
				assert.Equal(t, c.executed, executed)
				assert.Zero(t, body.sought.Load())
				eventually(t, "the body is open", func() bool { return body.closed.Load() > 0 })
			})
		})
	}
}

// TestReadersOfTheStandardLibraryStayWhereTheyWere is the same for a body that
// http.NewRequest can give again.
func TestReadersOfTheStandardLibraryStayWhereTheyWere(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newServer(t, protocol, processed(reset), processed(answer(503, "")), ok)
		body := strings.NewReader("0123456789")
		_, err := body.Seek(5, io.SeekStart)
		require.NoError(t, err)
		req, err := http.NewRequest(http.MethodPut, s.URL, body)
		require.NoError(t, err)
		resp, err := s.transport().RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		_, executed := s.seen()
		assert.Equal(t, []string{"56789", "56789", "56789"}, executed)
	})
}

// early answers before it has read what it will never read.
func early(x *exchange) { x.begin(http.StatusServiceUnavailable, 0, "") }

// TestAttemptsDoNotShareABody: the answer overtakes the request, so that the
// attempt before may still be reading its body when the next one begins. Each
// has its own, and the last arrives whole.
func TestAttemptsDoNotShareABody(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newServer(t, protocol, early, early, ok)
		req := put.request(t, s.URL, text(4<<20))
		req.send(t, s.transport()).isRight(t)
		assert.EqualValues(t, 3, req.made.Load())
		_, executed := s.seen()
		require.Len(t, executed, 1)
		assert.True(t, executed[0] == text(4<<20), "the body has changed")
	})
}

// TestPostIsSentOnce: neither an answer nor the lack of one makes a POST without
// a key be sent again, not even if the server says that it should be.
// Go-retryablehttp and failsafe-go execute it as often as the policy lets them,
// and the guard of the .NET extensions looked at answers only.
func TestPostIsSentOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault step
	}{
		{"500", processed(answer(500, ""))},
		{"502", processed(answer(502, ""))},
		{"503", processed(answer(503, ""))},
		{"503 with Retry-After", processed(func(x *exchange) {
			x.Header().Set("Retry-After", "0")
			answer(503, "")(x)
		})},
		{"504", processed(answer(504, ""))},
		{"no answer", processed(reset)},
	} {
		t.Run(c.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, c.fault)
				transport := s.transport()
				transport.Policy.MaxAttempts = 5
				post.request(t, s.URL, text(10)).send(t, transport)
				_, executed := s.seen()
				assert.Len(t, executed, 1)

				post.request(t, s.URL, text(10)).withKey().send(t, transport)
				_, executed = s.seen()
				assert.Len(t, executed, 1+5)
			})
		})
	}
}

// TestLastAnswerComesBack: when all attempts are used the caller gets the last
// answer with all that the server said. Go-retryablehttp returns an error
// without a status in its place.
func TestLastAnswerComesBack(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newServer(t, protocol, answer(503, "first"), answer(500, "second"), func(x *exchange) {
			x.Header().Set("Reason", "maintenance")
			answer(502, text(100_000))(x)
		})
		resp, err := (&http.Client{Transport: s.transport()}).Get(s.URL)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
		assert.Equal(t, "maintenance", resp.Header.Get("Reason"))
		assert.True(t, string(body) == text(100_000), "the body has changed")
		assert.Equal(t, 3, retryhttp.AttemptNumber(resp.Request.Context()))
	})
}

// refusal is a Budget without retries.
type refusal struct{}

func (refusal) TryWithdraw(retry.Attempt) bool { return false }
func (refusal) Deposit(retry.Class, bool)      {}

// TestBudgetStopsRetriesOnly: an empty budget costs no answer: neither one that
// is under way nor the failure that is the last. In failsafe-go it also ends an
// attempt that runs, and a good answer is lost.
func TestBudgetStopsRetriesOnly(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		begun, refused := make(chan struct{}), make(chan struct{})
		s := newServer(t, protocol, func(x *exchange) {
			close(begun)
			<-refused
			ok(x)
		}, answer(503, "try later"))
		transport := s.transport()
		transport.Policy.Budget = refusal{}
		slow := make(chan outcome)
		running := get.request(t, s.URL, "")
		go func() { slow <- running.send(t, transport) }()
		<-begun
		o := get.request(t, s.URL, "").send(t, transport)
		close(refused)
		assert.Equal(t, outcome{status: 503, body: "try later"}, o)
		(<-slow).isRight(t)
		arrived, _ := s.seen()
		assert.Equal(t, []string{"1", "1"}, arrived)
	})
}

// TestEndOfTimeStopsTheCall: once the time limit of the policy has passed there
// is no further attempt, and the last answer is not lost. In
// retryablehttp-go of ProjectDiscovery the limit left the wait but not the
// loop: retries followed each other without any wait.
func TestEndOfTimeStopsTheCall(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newServer(t, protocol, answer(503, "try later"))
		clock, transport := &retrytest.Clock{}, s.transport()
		transport.Policy = retry.Policy{
			Backoff: retry.Constant(time.Second), MaxAttempts: 100, MaxElapsed: 3500 * time.Millisecond, Clock: clock,
		}
		o := get.request(t, s.URL, "").send(t, transport)
		assert.Equal(t, outcome{status: 503, body: "try later"}, o)
		assert.Equal(t, []time.Duration{time.Second, time.Second, time.Second}, clock.Waits())
		arrived, _ := s.seen()
		assert.Len(t, arrived, 4)
	})
}

// TestExpectContinue: a server that refuses before it has seen the body gets
// none of it, and the next attempt sends a whole new one. Without a time to wait
// for the word of the server the body is sent in vain, but never a used one.
func TestExpectContinue(t *testing.T) {
	const size = 1 << 20
	for _, c := range []struct {
		name    string
		timeout time.Duration
	}{
		{"waits for the server", time.Hour},
		{"does not wait", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, early, ok)
				s.base.ExpectContinueTimeout = c.timeout
				req := put.request(t, s.URL, text(size))
				req.Header.Set("Expect", "100-continue")
				req.before = req.Clone(req.Context())
				transport := s.transport()
				var read, received int64
				transport.Policy.OnRetry = func(context.Context, retry.Attempt, time.Duration) {
					read, received = req.read.Load(), s.received.Load()
				}
				req.send(t, transport).isRight(t)
				if c.timeout > 0 {
					assert.Zero(t, read, "bytes read of the body before the first answer")
					assert.Less(t, received, int64(16<<10))
					assert.EqualValues(t, size, req.read.Load())
				}
				assert.EqualValues(t, 2, req.made.Load())
				_, executed := s.seen()
				require.Len(t, executed, 1)
				assert.True(t, executed[0] == text(size), "the body has changed")
			})
		})
	}
}
