package retryhttp_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/test/linear"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
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

// TestResumeConditions: a body is continued only if all of the response and of the request
// allow it, and only by the same version and the next byte.
func TestResumeConditions(t *testing.T) {
	const whole, untried, refused = "whole", "untried", "refused"
	type parts struct {
		transport retryhttp.Transport
		req       *http.Request
		first     *http.Response
		rest      *http.Response
	}
	setHeader := func(h http.Header, name, value string) { h.Set(name, value) }
	for _, tt := range []struct {
		name   string
		change func(*parts)
		want   string
	}{
		{"nothing special", func(*parts) {}, whole},
		{"no method", func(p *parts) { p.req.Method = "" }, whole},
		{"no header", func(p *parts) { p.req.Header = nil }, whole},
		{"ranges accepted", func(p *parts) { setHeader(p.first.Header, "Accept-Ranges", "bytes") }, whole},
		{"the same ETag", func(p *parts) { setHeader(p.rest.Header, "Etag", `"1"`) }, whole},
		{"total not repeated", func(p *parts) { setHeader(p.rest.Header, "Content-Range", "bytes 3-5/*") }, whole},
		{"length unknown before", func(p *parts) { p.first.ContentLength = -1 }, whole},
		{"off", func(p *parts) { p.transport.Resume = false }, untried},
		{"not to be repeated", func(p *parts) { p.transport.MayRepeat = func(*http.Request) bool { return false } }, untried},
		{"PUT", func(p *parts) { p.req.Method = "PUT" }, untried},
		{"a range", func(p *parts) { setHeader(p.req.Header, "Range", "bytes=0-5") }, untried},
		{"203", func(p *parts) { p.first.StatusCode = 203 }, untried},
		{"uncompressed by net/http", func(p *parts) { p.first.Uncompressed = true }, untried},
		{"compressed", func(p *parts) { setHeader(p.first.Header, "Content-Encoding", "gzip") }, untried},
		{"no ranges accepted", func(p *parts) { setHeader(p.first.Header, "Accept-Ranges", "none") }, untried},
		{"another ETag", func(p *parts) { setHeader(p.rest.Header, "Etag", `"2"`) }, refused},
		{"whole again", func(p *parts) { p.rest.StatusCode = 200 }, refused},
		{"another byte", func(p *parts) { setHeader(p.rest.Header, "Content-Range", "bytes 2-5/6") }, refused},
		{"another length", func(p *parts) { setHeader(p.rest.Header, "Content-Range", "bytes 3-5/7") }, refused},
		{"a length that is no number", func(p *parts) { setHeader(p.rest.Header, "Content-Range", "bytes 3-5/six") }, refused},
		{"no range", func(p *parts) { p.rest.Header.Del("Content-Range") }, refused},
		{"no length at all", func(p *parts) {
			p.first.ContentLength = -1
			setHeader(p.rest.Header, "Content-Range", "bytes 3-5/*")
		}, refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &parts{
				transport: retryhttp.Transport{Policy: quick(), Resume: true},
				req:       request(t, "GET", ""),
				first: &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"1"`}}, ContentLength: 6,
					Body: io.NopCloser(io.MultiReader(strings.NewReader("abc"), failingReader{io.ErrUnexpectedEOF}))},
				rest: &http.Response{StatusCode: 206, Header: http.Header{"Content-Range": {"bytes 3-5/6"}}, ContentLength: 3,
					Body: io.NopCloser(strings.NewReader("def"))},
			}
			tt.change(p)
			requests := 0
			p.transport.Base = roundTripper(func(req *http.Request) (*http.Response, error) {
				if requests++; requests == 1 {
					return p.first, nil
				}
				assert.Equal(t, "bytes=3-", req.Header.Get("Range"))
				assert.Equal(t, `"1"`, req.Header.Get("If-Range"))
				return p.rest, nil
			})
			resp, err := p.transport.RoundTrip(p.req)
			require.NoError(t, err)
			data, err := io.ReadAll(resp.Body)
			require.NoError(t, resp.Body.Close())
			got := whole
			switch {
			case err != nil && requests == 1:
				got = untried
			case err != nil:
				got = refused
			default:
				assert.Equal(t, "abcdef", string(data))
			}
			assert.Equal(t, tt.want, got)
		})
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
	p.Budget = &awspreset.TokenBudget{Deficit: 500}
	requests, err = send(p)
	assert.ErrorIs(t, err, retry.ErrBudget)
	assert.Equal(t, 1, requests)
}

// TestResumeRefused: the error has the reason of the break, and the status of the response to
// the request for the rest.
func TestResumeRefused(t *testing.T) {
	for _, status := range []int{416, 404} {
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			if req.Header.Get("Range") != "" {
				return &http.Response{StatusCode: status, Body: http.NoBody, Request: req}, nil
			}
			header := http.Header{"Etag": {`"1"`}}
			return &http.Response{StatusCode: 200, Header: header, ContentLength: 9, Body: io.NopCloser(io.MultiReader(strings.NewReader("abc"), failingReader{errReset}))}, nil
		})
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), Resume: true}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, resp.Body.Close())
		assert.ErrorIs(t, err, errReset)
		assert.ErrorContains(t, err, http.StatusText(status))
	}
}

// A piece is a response of a server that breaks off after data.
type piece struct {
	status int
	header http.Header
	data   string
	then   io.Reader // nil: breaks off
}

func first(data string) piece {
	return piece{status: 200, header: http.Header{"Etag": {`"1"`}, "Content-Length": {"20"}}, data: data}
}

func rest(from int, data string) piece {
	return piece{status: 206, header: http.Header{"Content-Range": {fmt.Sprintf("bytes %d-19/20", from)}}, data: data}
}

// pieces returns a Base that returns the pieces, the last one again and again.
func pieces(requests *int, list ...piece) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		p := list[min(*requests, len(list)-1)]
		*requests++
		length := int64(-1)
		if p.status == 200 {
			length = 20
		}
		then := p.then
		if then == nil {
			then = failingReader{io.ErrUnexpectedEOF}
		}
		return &http.Response{StatusCode: p.status, Header: p.header, ContentLength: length, Request: req,
			Body: io.NopCloser(io.MultiReader(strings.NewReader(p.data), then))}, nil
	})
}

// TestResumeWithoutProgress: a rest that breaks off before its first byte is a failed
// attempt, and the error is returned again by later Reads.
func TestResumeWithoutProgress(t *testing.T) {
	for _, tt := range []struct {
		name     string
		list     []piece
		requests int
		reason   error
	}{
		{"no data", []piece{first("abc"), rest(3, "")}, 3, retry.ErrMaxAttempts},
		{"no data at all", []piece{first(""), rest(0, "")}, 3, retry.ErrMaxAttempts},
		{"empty", []piece{first("abc"), {206, rest(3, "").header, "", strings.NewReader("")}}, 3, retry.ErrMaxAttempts},
		{"data in between", []piece{first("abc"), rest(3, ""), rest(3, "d"), rest(4, "")}, 5, retry.ErrMaxAttempts},
		{"gone", []piece{first("abc"), {status: 404, header: http.Header{}}}, 2, nil},
	} {
		requests, gaveUp := 0, 0
		p := quick()
		p.OnGiveUp = func(context.Context, *retry.Error) { gaveUp++ }
		resp, err := (&retryhttp.Transport{Base: pieces(&requests, tt.list...), Policy: p, Resume: true}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.Error(t, err, tt.name)
		if tt.reason != nil {
			assert.ErrorIs(t, err, tt.reason, tt.name)
			assert.Equal(t, 1, gaveUp, tt.name)
		}
		_, again := resp.Body.Read(make([]byte, 1))
		assert.Equal(t, err, again, tt.name)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, tt.requests, requests, tt.name)
	}
}

// TestResumeClosed: Close ends the body before, during and after a request for the rest.
func TestResumeClosed(t *testing.T) {
	for _, stage := range []string{"read", "rest requested", "rest read", "wait"} {
		t.Run(stage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests atomic.Int32
				base := roundTripper(func(req *http.Request) (*http.Response, error) {
					stalled, w := io.Pipe()
					context.AfterFunc(req.Context(), func() { _ = w.CloseWithError(req.Context().Err()) })
					n := requests.Add(1)
					if n == 2 && stage == "rest requested" {
						<-req.Context().Done()
						return nil, req.Context().Err()
					}
					p, body := rest(3, ""), io.Reader(stalled)
					if n == 1 {
						p = first("")
						if stage != "read" {
							body = failingReader{io.ErrUnexpectedEOF}
						}
						body = io.MultiReader(strings.NewReader("abc"), body)
					}
					return &http.Response{StatusCode: p.status, Header: p.header, ContentLength: -1, Request: req,
						Body: struct {
							io.Reader
							io.Closer
						}{body, stalled}}, nil
				})
				p := retry.Policy{Backoff: retry.NoDelay{}}
				if stage == "wait" {
					p.Backoff = retry.Constant(time.Hour)
				}
				resp, err := (&retryhttp.Transport{Base: base, Policy: p, Resume: true}).RoundTrip(request(t, "GET", ""))
				require.NoError(t, err)
				ended := make(chan error)
				go func() {
					_, err := io.ReadAll(resp.Body)
					ended <- err
				}()
				synctest.Wait()
				begun := time.Now()
				require.NoError(t, resp.Body.Close())
				assert.ErrorIs(t, <-ended, http.ErrBodyReadAfterClose)
				assert.Zero(t, time.Since(begun))
				before := requests.Load()
				_, err = resp.Body.Read(make([]byte, 1))
				assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
				assert.Equal(t, before, requests.Load())
			})
		})
	}
}

type countingLimiter struct{ waits, observed int }

func (l *countingLimiter) Wait(context.Context) error { l.waits++; return nil }
func (l *countingLimiter) Observe(retry.Attempt)      { l.observed++ }

// TestResumeAtOnce: the Limiter does not count the broken body as an attempt that begins.
func TestResumeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests, limiter := 0, &countingLimiter{}
		p := retry.Policy{Backoff: retry.NoDelay{}, Limiter: limiter}
		base := pieces(&requests, first("0123456789"), rest(10, "0123456789"))
		resp, err := (&retryhttp.Transport{Base: base, Policy: p, Resume: true}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		begun := time.Now()
		data, err := io.ReadAll(io.LimitReader(resp.Body, 20))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Len(t, data, 20)
		assert.Zero(t, time.Since(begun))
		assert.Equal(t, countingLimiter{2, 2}, *limiter)
	})
}

// TestResumeUnknownLength: the rest tells the length of a body that did not.
func TestResumeUnknownLength(t *testing.T) {
	requests := 0
	part := func(from int, data string) piece {
		p := rest(from, data)
		p.then = strings.NewReader("")
		return p
	}
	list := pieces(&requests, first("01234"), part(5, "56789"), part(10, "0123456789"))
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := list.RoundTrip(req)
		resp.ContentLength = -1
		return resp, err
	})
	resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), Resume: true}).RoundTrip(request(t, "GET", ""))
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, "01234567890123456789", string(data))
	assert.Equal(t, 3, requests)
}

// TestNotResumedWithBody: the body of the request may not be sent again with the rest.
func TestNotResumedWithBody(t *testing.T) {
	requests := 0
	resp, err := (&retryhttp.Transport{Base: pieces(&requests, first("abc")), Policy: quick(), Resume: true}).RoundTrip(request(t, "GET", "query"))
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	assert.Equal(t, io.ErrUnexpectedEOF, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 1, requests)
}

// TestResumeHooks: the hooks and the Limiter hear of the request for the rest, which begins
// after the wait and knows the resends before it.
func TestResumeHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type event struct {
			what   string
			number int
			at     time.Duration
		}
		var events []event
		begun := time.Now()
		note := func(what string, number int) { events = append(events, event{what, number, time.Since(begun)}) }
		p := retry.Policy{Backoff: retry.Constant(time.Second), Limiter: waiter(func() { note("wait", 0) })}
		p.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			info, _ := retryhttp.InfoFrom(ctx)
			note("attempt", a.Number)
			assert.Equal(t, a.Number-1, info.Resends)
			return nil, nil
		}
		requests, sent := 0, 0
		list := pieces(&requests, first("0123456789"), rest(10, "0123456789"))
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			if sent++; sent == 1 {
				return nil, errGoAway
			}
			return list.RoundTrip(req)
		})
		resp, err := (&retryhttp.Transport{Base: base, Policy: p, Resume: true}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		data, err := io.ReadAll(io.LimitReader(noEmptyReads{t, resp.Body}, 20))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Len(t, data, 20)
		assert.Equal(t, []event{{"wait", 0, 0}, {"attempt", 1, 0}, {"wait", 0, time.Second}, {"attempt", 2, time.Second}}, events)
	})
}

type waiter func()

func (w waiter) Wait(context.Context) error { w(); return nil }

// noEmptyReads fails the test if a Read returns neither data nor an error.
type noEmptyReads struct {
	t *testing.T
	io.Reader
}

func (r noEmptyReads) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	assert.True(r.t, n > 0 || err != nil)
	return n, err
}

func TestContentRangeIsReadInLinearTime(t *testing.T) {
	for name, hostile := range map[string]func(size int) string{
		"spaces": func(size int) string { return "bytes " + strings.Repeat(" ", size) },
		"digits": func(size int) string { return "bytes " + strings.Repeat("0", size) + "1-5/6" },
		"total":  func(size int) string { return "bytes 1-5/" + strings.Repeat("0", size) + "6" },
	} {
		t.Run(name, func(t *testing.T) {
			linear.Check(t, 1<<20, func(size int) func() {
				value := hostile(size)
				base := roundTripper(func(req *http.Request) (*http.Response, error) {
					h := http.Header{"Etag": {`"1"`}, "Content-Range": {value}}
					resp := &http.Response{StatusCode: 206, Header: h, Body: io.NopCloser(strings.NewReader("2")), ContentLength: 6, Request: req}
					if req.Header.Get("Range") == "" {
						resp.StatusCode = 200
					}
					return resp, nil
				})
				client := &http.Client{Transport: &retryhttp.Transport{Base: base, Policy: quick(), Resume: true}}
				return func() {
					resp, err := client.Get("http://example.com/")
					require.NoError(t, err)
					content, _ := io.ReadAll(resp.Body)
					assert.Equal(t, "2", string(content[:1]))
				}
			})
		})
	}
}

// trickle answers a request for a body of total bytes with one more byte each time.
func trickle(requests *int, total int, takes time.Duration, clock *retrytest.Clock) roundTripper {
	return func(req *http.Request) (*http.Response, error) {
		*requests++
		clock.Advance(takes)
		var from int
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Etag": {`"1"`}}, ContentLength: int64(total)}
		if _, err := fmt.Sscanf(req.Header.Get("Range"), "bytes=%d-", &from); err == nil {
			resp.StatusCode = http.StatusPartialContent
			resp.ContentLength -= int64(from)
			resp.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, total-1, total))
		}
		end := io.ErrUnexpectedEOF
		if from+1 == total {
			end = io.EOF
		}
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("x"), failingReader{end}))
		return resp, nil
	}
}

// TestResumeMustPay: a response that returns little of a body counts as a failed attempt, and
// MaxElapsed and the Budget bound the whole body.
func TestResumeMustPay(t *testing.T) {
	for name, tt := range map[string]struct {
		total  int
		policy retry.Policy
		want   int
		reason error
	}{
		"a byte of many":    {10_000, retry.Policy{MaxAttempts: 3}, 3, retry.ErrMaxAttempts},
		"a hundredth":       {100, retry.Policy{MaxAttempts: 3}, 100, nil},
		"the time":          {100, retry.Policy{MaxAttempts: 3, MaxElapsed: 20 * time.Second}, 21, retry.ErrMaxElapsed},
		"the budget":        {100, retry.Policy{MaxAttempts: 3, Budget: &awspreset.TokenBudget{Capacity: 140}}, 11, retry.ErrBudget},
		"no bound but time": {10_000, retry.Policy{MaxElapsed: 20 * time.Second}, 11, retry.ErrMaxElapsed},
	} {
		t.Run(name, func(t *testing.T) {
			requests, clock := 0, &retrytest.Clock{}
			tt.policy.Clock, tt.policy.Backoff = clock, retry.Constant(time.Second)
			if tt.policy.MaxAttempts != 0 {
				tt.policy.Backoff = retry.Constant(0)
			}
			transport := &retryhttp.Transport{
				Base: trickle(&requests, tt.total, time.Second, clock), Policy: tt.policy, Resume: true,
				PerHost: retryhttp.Unbudgeted(),
			}
			if tt.policy.Budget != nil {
				transport.PerHost = nil
			}
			resp, err := transport.RoundTrip(request(t, "GET", ""))
			require.NoError(t, err)
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, resp.Body.Close())
			if tt.reason == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, tt.reason)
			}
			assert.Equal(t, tt.want, requests)
		})
	}
}
