package retryhttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// TestBufferEnds: a call that waits for the rest of a body returns when its context ends.
func TestBufferEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	silent, writer := io.Pipe()
	req := request(t, "PUT", "").WithContext(ctx)
	req.Body = silent
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		time.AfterFunc(time.Millisecond, func() { cancel(errHung) })
		<-req.Context().Done()
		return nil, errors.Join(req.Context().Err(), req.Body.Close())
	})
	_, err := (&retryhttp.Transport{Base: base, MaxBuffer: 10}).RoundTrip(req)
	assert.ErrorIs(t, err, errHung)
	_, err = writer.Write([]byte("x"))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

// TestMaxBufferStreams: a body is sent while it is read, because its writer may wait
// for the response.
func TestMaxBufferStreams(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newServer(t, protocol, func(x *exchange) {
			_ = http.NewResponseController(x.ResponseWriter).EnableFullDuplex()
			x.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(x.ResponseWriter).Flush()
			_, _ = io.CopyN(x, x.request.Body, int64(len(content)))
			_ = http.NewResponseController(x.ResponseWriter).Flush()
			_, _ = io.Copy(io.Discard, x.request.Body)
		})
		transport := s.transport()
		transport.MaxBuffer = 100
		body, writer := io.Pipe()
		req := request(t, "PUT", "")
		req.URL, req.Body, req.ContentLength = parse(t, s.URL), body, -1
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err, "nothing has been written yet")
		_, err = io.WriteString(writer, content)
		require.NoError(t, err)
		heard := make([]byte, len(content))
		_, err = io.ReadFull(resp.Body, heard)
		require.NoError(t, err)
		assert.Equal(t, content, string(heard))
		require.NoError(t, writer.Close())
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	})
}

// TestMaxBufferReadsOn: after an attempt fails while sending the body, the next attempt
// sends the whole body, even while the failed attempt is still reading.
func TestMaxBufferReadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, writer := io.Pipe()
		var left sync.WaitGroup
		sent := 0
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			if sent++; sent == 1 {
				first := make([]byte, 3)
				_, err := io.ReadFull(req.Body, first)
				require.NoError(t, err)
				assert.Equal(t, "con", string(first))
				left.Go(func() { // as net/http's goroutines may still do
					n, err := req.Body.Read(make([]byte, 2))
					assert.Equal(t, 2, n)
					assert.NoError(t, err)
					_, err = req.Body.Read(make([]byte, 2))
					assert.Error(t, err, "the attempt's body is closed")
				})
				synctest.Wait()
				require.NoError(t, req.Body.Close())
				return nil, errReset
			}
			go func() {
				_, _ = io.WriteString(writer, "tent")
				_ = writer.Close()
			}()
			data, err := io.ReadAll(req.Body)
			require.NoError(t, err)
			assert.Equal(t, "content", string(data))
			require.NoError(t, req.Body.Close())
			return &http.Response{StatusCode: 200}, nil
		})
		go func() { _, _ = io.WriteString(writer, "con") }()
		req := request(t, "PUT", "")
		req.Body, req.ContentLength = body, -1
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), MaxBuffer: 100}).RoundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
		left.Wait()
		_, err = body.Read(nil)
		assert.ErrorIs(t, err, io.ErrClosedPipe, "the body of the request is closed")
	})
}

// TestMaxBufferTooShort: a body longer than MaxBuffer is sent completely at most once. If
// the first attempt finds the excess only during the wait, the second attempt fails
// before it sends anything.
func TestMaxBufferTooShort(t *testing.T) {
	long := strings.Repeat("0123456789", 10)
	for _, tt := range []struct {
		name string
		read int // bytes that the first attempt reads
		sent int
		body string
	}{
		{"found in time", 100, 1, ""},
		{"found by the second attempt", 5, 2, long},
	} {
		t.Run(tt.name, func(t *testing.T) {
			closed, sent, body := 0, 0, ""
			base := roundTripper(func(req *http.Request) (*http.Response, error) {
				defer req.Body.Close()
				if sent++; sent == 1 {
					_, err := io.ReadFull(req.Body, make([]byte, tt.read))
					require.NoError(t, err)
					return nil, errReset
				}
				data, err := io.ReadAll(req.Body)
				require.NoError(t, err)
				body = string(data)
				return nil, errReset
			})
			req := request(t, "PUT", "")
			req.Body, req.ContentLength = closer{strings.NewReader(long), func() { closed++ }}, -1
			_, err := (&retryhttp.Transport{Base: base, Policy: quick(), MaxBuffer: 50}).RoundTrip(req)
			assert.ErrorIs(t, err, errReset)
			assert.ErrorContains(t, err, "no GetBody")
			assert.Equal(t, tt.sent, sent)
			assert.Equal(t, tt.body, body)
			assert.Equal(t, 1, closed)
		})
	}
	t.Run("found too late", func(t *testing.T) {
		bodies := make(chan io.ReadCloser, 1)
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			bodies <- req.Body
			return nil, errReset
		})
		p := quick()
		p.OnRetry = func(context.Context, retry.Attempt, time.Duration) {
			body := <-bodies // which the first attempt is still reading
			_, err := io.ReadAll(body)
			assert.NoError(t, err)
		}
		req := request(t, "PUT", "")
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(long)), -1
		_, err := (&retryhttp.Transport{Base: base, Policy: p, MaxBuffer: 50}).RoundTrip(req)
		assert.ErrorContains(t, err, "longer than MaxBuffer")
		assert.ErrorIs(t, err, errReset)
	})
}

// TestRequestBodyFails: if reading the request's body fails, no server executes the
// incomplete request.
func TestRequestBodyFails(t *testing.T) {
	errDisk := errors.New("disk error")
	for _, k := range kinds {
		if k.method == http.MethodGet {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, ok)
				req := k.request(t, s.URL, text(100_000))
				req.Body.(*watchedBody).Reader = io.MultiReader(strings.NewReader(text(50_000)), iotest.ErrReader(errDisk))
				o := req.send(t, s.transport())
				_, executed := s.seen()
				if k.repeatable {
					o.isRight(t)
					require.Len(t, executed, 1)
					assert.True(t, executed[0] == text(100_000), "the body has changed")
					return
				}
				assert.ErrorIs(t, o.err, errDisk)
				assert.ErrorIs(t, o.err, retry.ErrUnrepeatable)
				assert.Empty(t, executed)
			})
		})
	}
}

// file has a Seek method but is of a type unknown to this package.
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

// TestBodyIsNeverRewound: a body that has been partly read before the call is sent
// from there in every attempt, or is sent only once. Go-retryablehttp rewinds the live
// body, so it sends more bytes than announced and races with the previous attempt,
// which may still be reading.
func TestBodyIsNeverRewound(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    step
		buffer   int64
		executed []string
	}{
		{"response, sent once", respond(503, "later"), 0, []string{"56789"}},
		{"response, too long for the buffer", respond(503, "later"), 4, []string{"56789"}},
		{"response, buffered", respond(503, "later"), 5, []string{"56789", "56789", "56789"}},
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

// TestExpectContinue: a server that refuses early receives no body, and the next
// attempt sends the body from the start. Without an ExpectContinueTimeout, the body is
// sent unnecessarily, but never twice.
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
					assert.Zero(t, read, "bytes of the body read before the first response")
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

func TestBodies(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name   string
		body   io.Reader // of a type unknown to http.NewRequest
		length int64     // declared
		most   int64
		sent   int
		err    string
	}{
		{"no buffer", strings.NewReader(long), 100, 0, 1, ""},
		{"fits", strings.NewReader(long), 100, 100, 3, ""},
		{"fits, length not known", strings.NewReader(long), -1, 100, 3, ""},
		{"fits, length not given", strings.NewReader(long), 0, 1 << 62, 3, ""},
		{"fits into the largest", strings.NewReader(long), 0, 1<<63 - 1, 3, ""},
		{"empty", strings.NewReader(""), 0, 100, 3, ""},
		{"fits into the smallest", strings.NewReader("x"), 1, 1, 3, ""},
		{"one byte too long", strings.NewReader(long), -1, 99, 1, ""},
		{"too long, announced", strings.NewReader(long), 100, 99, 1, ""},
		{"cannot be read", io.MultiReader(strings.NewReader("x"), failingReader{errors.New("broken")}), -1, 100, 1, "broken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := ""
			if s, ok := tt.body.(*strings.Reader); ok {
				want = long[:s.Len()]
			}
			closed := 0
			req := request(t, "PUT", "")
			req.Body = closer{tt.body, func() { closed++ }}
			req.ContentLength = tt.length
			base := &script{replies: []reply{{status: 503}}}
			resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), MaxBuffer: tt.most}).RoundTrip(req)
			assert.Equal(t, 1, closed)
			assert.Len(t, base.requests, tt.sent)
			for _, b := range base.bodies {
				assert.Equal(t, want, b)
			}
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, 503, resp.StatusCode)
		})
	}
}

// TestMaxBufferWithoutBody: a request without a body is sent without one.
func TestMaxBufferWithoutBody(t *testing.T) {
	for _, body := range []io.ReadCloser{nil, http.NoBody} {
		req := request(t, "PUT", "")
		req.Body = body
		sent := 0
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			sent++
			assert.Nil(t, req.Body)
			return &http.Response{StatusCode: 503, Body: http.NoBody}, nil
		})
		_, err := (&retryhttp.Transport{Base: base, Policy: quick(), MaxBuffer: 100}).RoundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, 3, sent)
	}
}

// TestBodyIsClosedOnce: the body of the request is closed once, even if net/http closes its
// replay again later, from which nothing can be read any more.
func TestBodyIsClosedOnce(t *testing.T) {
	closed := 0
	req := request(t, "PUT", "")
	req.Body = closer{strings.NewReader("content"), func() { closed++ }}
	var sent io.ReadCloser
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		sent = req.Body
		_, err := io.ReadFull(sent, make([]byte, 3))
		return &http.Response{StatusCode: 200}, err
	})
	_, err := (&retryhttp.Transport{Base: base, MaxBuffer: 100}).RoundTrip(req)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, sent.Close())
		assert.Equal(t, 1, closed)
		n, err := sent.Read(make([]byte, 3))
		assert.Error(t, err)
		assert.Zero(t, n)
	}
}

// TestContextEndsWithTheBody: closing the response's body ends the contexts of the attempt.
func TestContextEndsWithTheBody(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		for _, limit := range []time.Duration{0, time.Hour} {
			var seen, derived context.Context
			base := roundTripper(func(req *http.Request) (*http.Response, error) {
				var cancel context.CancelFunc
				seen = req.Context()
				derived, cancel = context.WithCancel(seen)
				t.Cleanup(cancel)
				return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("response"))}, nil
			})
			p := quick()
			p.AttemptTimeout = limit
			resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, method, ""))
			require.NoError(t, err)
			assert.NoError(t, derived.Err())
			data, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, "response", string(data))
			require.NoError(t, resp.Body.Close())
			assert.ErrorIs(t, seen.Err(), context.Canceled, "%s, %v", method, limit)
			assert.ErrorIs(t, derived.Err(), context.Canceled, "%s, %v", method, limit)
		}
	}
}

type closer struct {
	io.Reader
	close func()
}

func (c closer) Close() error { c.close(); return nil }

// TestGetBodyFails: if GetBody fails, the call ends, and its error also contains the
// earlier failure.
func TestGetBodyFails(t *testing.T) {
	gone := errors.New("file is gone")
	for _, first := range []reply{{status: 503}, {err: errReset}} {
		base := &script{replies: []reply{first}}
		req := request(t, "PUT", "content")
		req.GetBody = func() (io.ReadCloser, error) { return nil, gone }
		p := quick()
		p.AttemptTimeout = time.Hour // the attempt's context must be canceled here, too
		resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(req)
		assert.Nil(t, resp)
		assert.ErrorIs(t, err, gone)
		if first.err != nil {
			assert.ErrorIs(t, err, errReset)
		} else {
			assert.ErrorContains(t, err, "503 Service Unavailable")
		}
		assert.Len(t, base.requests, 1)
	}
}

// TestLongResponseIsNotRead: the response of a failed attempt is read before the wait only
// if it is short.
func TestLongResponseIsNotRead(t *testing.T) {
	for length, read := range map[int64]bool{64 << 10: true, 64<<10 + 1: false, -1: true} {
		var seen bool
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			body := readerFunc(func([]byte) (int, error) { seen = true; return 0, io.EOF })
			return &http.Response{StatusCode: 503, ContentLength: length, Body: io.NopCloser(body), Request: req}, nil
		})
		p := quick()
		p.MaxAttempts = 2
		p.OnAttempt = func(_ context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			if a.Number == 2 {
				assert.Equal(t, read, seen, length)
			}
			return nil, nil
		}
		resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
}
