package http_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func responds(status int, body string) func(*h2Conn, uint32) {
	return func(c *h2Conn, id uint32) {
		c.head(id, strconv.Itoa(status))
		_ = c.framer.WriteData(id, true, []byte(body))
	}
}

func resets(code http2.ErrCode) func(*h2Conn, uint32) {
	return func(c *h2Conn, id uint32) { _ = c.framer.WriteRSTStream(id, code) }
}

// goesAway ends the connection without a response. The last stream ID in its GOAWAY is
// the request's stream ID plus above.
func goesAway(code http2.ErrCode, above int) func(*h2Conn, uint32) {
	return func(c *h2Conn, id uint32) {
		_ = c.framer.WriteGoAway(uint32(max(0, int(id)+above)), code, nil)
		c.finish()
	}
}

// longBody is longer than a stream's initial window of 65535 bytes.
var longBody = strings.Repeat("0123456789", 7000)

type kind struct {
	name, method string
	key, body    bool
}

var (
	post      = kind{"POST", http.MethodPost, false, true}
	postKeyed = kind{"POST with key", http.MethodPost, true, true}
	put       = kind{"PUT", http.MethodPut, false, true}
	get       = kind{"GET", http.MethodGet, false, false}
	postEmpty = kind{"POST without body", http.MethodPost, false, false}
	kinds     = []kind{post, postKeyed, put, get, postEmpty}
)

func (k kind) content() string {
	if k.body {
		return longBody
	}
	return ""
}

func (k kind) repeatable() bool { return k.key || k.method != http.MethodPost }

func (k kind) request(t testing.TB, url string) *http.Request {
	req, err := http.NewRequestWithContext(t.Context(), k.method, url, nil)
	require.NoError(t, err)
	if k.body {
		req, err = http.NewRequestWithContext(t.Context(), k.method, url, strings.NewReader(longBody))
		require.NoError(t, err)
	}
	if k.key {
		req.Header.Set("Idempotency-Key", "k1")
	}
	return req
}

// counted returns a policy and the number of sends that it reports: attempts and
// resends within them.
func counted() (retry.Policy, *atomic.Int32) {
	count := new(atomic.Int32)
	return retry.Policy{
		MaxAttempts: 3,
		Backoff:     retry.Constant(time.Millisecond),
		Hooks: retry.Hooks{OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
			count.Add(1)
			before, _ := retryhttp.InfoFrom(ctx)
			return nil, func(retry.Attempt) {
				after, _ := retryhttp.InfoFrom(ctx)
				count.Add(int32(after.Resends - before.Resends))
			}
		}},
	}, count
}

type result struct {
	sends, streams, executed int
	status                   int // 0: error
	body                     string
	err, bodyErr             error
}

func (r result) figures() string {
	return fmt.Sprintf("sends=%d streams=%d executed=%d status=%d", r.sends, r.streams, r.executed, r.status)
}

// run sends one request of kind k to a server with the given steps. If warm is true, an
// uncounted request uses the connection first.
func run(t *testing.T, b base, k kind, warm bool, steps ...step) (r result) {
	server := &h2Server{steps: steps}
	url := server.listen(t)
	policy, attempts := counted()
	client := &http.Client{Transport: &retryhttp.Transport{Base: b.make(), Policy: policy}}
	defer client.CloseIdleConnections()
	before := 0
	if warm {
		server.steps = append([]step{{do: responds(http.StatusOK, "warm")}}, steps...)
		before = 1
		resp, err := client.Do(get.request(t, url))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	resp, err := client.Do(k.request(t, url))
	if r.err = err; err == nil {
		data, err := io.ReadAll(resp.Body)
		r.status, r.body, r.bodyErr = resp.StatusCode, string(data), err
		assert.NoError(t, resp.Body.Close())
	}
	streams, executed := server.seen()
	for _, body := range executed[before:] {
		assert.True(t, body == k.content(), "a body of %d bytes was executed", len(body))
	}
	r.sends, r.streams, r.executed = int(attempts.Load())-before, streams-before, len(executed)-before
	if k.body {
		assert.Equal(t, r.sends, r.streams, "a body was sent without being counted")
	}
	return r
}

type fault struct {
	name    string
	do      func(*h2Conn, uint32)
	refuses bool // HTTP/2 guarantees that the request was not processed
	proof   bool // Transport relies on that guarantee
	resent  func(b base, warm bool) bool
}

func always(base, bool) bool { return true }
func never(base, bool) bool  { return false }

// onUsed: the base resends only after an error on a used connection. After an error on
// the first request of a connection, it expects the next connection to fail in the same
// way.
func onUsed(_ base, warm bool) bool { return warm }

// byStandard: unlike net/http, x/net no longer resends the request.
func byStandard(b base, _ bool) bool { return b.name == "net/http" }

const refusedStream = "RST_STREAM REFUSED_STREAM"

var faults = []fault{
	{refusedStream, resets(http2.ErrCodeRefusedStream), true, false, always},
	{"RST_STREAM PROTOCOL_ERROR", resets(http2.ErrCodeProtocol), false, false, byStandard},
	{"RST_STREAM INTERNAL_ERROR", resets(http2.ErrCodeInternal), false, false, never},
	{"RST_STREAM CANCEL", resets(http2.ErrCodeCancel), false, false, never},
	{"RST_STREAM ENHANCE_YOUR_CALM", resets(http2.ErrCodeEnhanceYourCalm), false, false, never},
	{"GOAWAY NO_ERROR below", goesAway(http2.ErrCodeNo, -2), true, true, always},
	{"GOAWAY NO_ERROR at", goesAway(http2.ErrCodeNo, 0), false, false, never},
	{"GOAWAY NO_ERROR above", goesAway(http2.ErrCodeNo, 2), false, false, never},
	{"GOAWAY ENHANCE_YOUR_CALM below", goesAway(http2.ErrCodeEnhanceYourCalm, -2), true, true, onUsed},
	{"GOAWAY ENHANCE_YOUR_CALM at", goesAway(http2.ErrCodeEnhanceYourCalm, 0), false, false, never},
	{"GOAWAY ENHANCE_YOUR_CALM above", goesAway(http2.ErrCodeEnhanceYourCalm, 2), false, false, never},
}

func (f fault) expected(b base, k kind, early, warm bool) string {
	first := 1 // executions of the stream with the fault
	if early || f.refuses {
		first = 0
	}
	resent := !k.body && f.resent(b, warm)
	switch {
	case k.repeatable(), f.proof && !(resent && b.name == "x/net"): // which does not tell why it would resend the request
		return result{sends: 2, streams: 2, executed: first + 1, status: http.StatusOK}.figures()
	}
	return result{sends: 1, streams: 1, executed: first}.figures()
}

// TestFaults: a request that must not be executed twice is retried only if a GOAWAY
// proves that it was not processed, and every send is an attempt or reported in Info.
func TestFaults(t *testing.T) {
	for _, b := range bases {
		for _, f := range faults {
			for _, when := range []string{"after the headers", "after the request", "after the request, on a used connection"} {
				early, warm := when == "after the headers", strings.HasSuffix(when, "used connection")
				for _, k := range kinds {
					if early && !k.body {
						continue // the request ends with its headers
					}
					t.Run(b.name+"/"+f.name+"/"+when+"/"+k.name, func(t *testing.T) {
						r := run(t, b, k, warm, step{early: early, refuses: f.refuses, do: f.do})
						assert.Equal(t, f.expected(b, k, early, warm), r.figures(), "%v", r.err)
						if r.status == 0 {
							assert.ErrorIs(t, r.err, retry.ErrUnrepeatable)
							assert.NotErrorIs(t, r.err, context.Canceled, "the caller did not cancel")
							assert.NotContains(t, r.err.Error(), "GetBody", "unhelpful advice")
						} else {
							assert.Equal(t, "done", r.body)
							assert.NoError(t, r.bodyErr)
						}
					})
				}
			}
		}
	}
}

// TestConfiguredTransport: if x/net provides the HTTP/2 of an http.Transport, a POST without a
// body has its Content-Length, too, whether or not x/net can open a connection for it.
func TestConfiguredTransport(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "0", r.Header.Get("Content-Length"))
		assert.Equal(t, 2, r.ProtoMajor)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	base := &http.Transport{TLSClientConfig: server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()}
	//lint:ignore SA1019 programs still use it
	require.NoError(t, http2.ConfigureTransport(base))
	client := &http.Client{Transport: &retryhttp.Transport{Base: base}}
	defer client.CloseIdleConnections()
	for range 3 {
		resp, err := client.Post(server.URL, "", nil)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
}
