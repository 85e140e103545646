package retryhttp_test

import (
	"context"
	"io"
	"net/http"
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

// TestMaxBufferStreams: a body is sent while it is read, so that a stream whose
// writer waits for the response goes on.
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

// TestMaxBufferReadsOn: an attempt that fails in the midst of the body is followed by
// one that sends all of it, also if the first still waits for more.
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
				left.Go(func() { // as net/http's goroutines do for a while
					n, err := req.Body.Read(make([]byte, 2))
					assert.Equal(t, 2, n)
					assert.NoError(t, err)
					_, err = req.Body.Read(make([]byte, 2))
					assert.Error(t, err, "it is closed")
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

// TestMaxBufferTooShort: what does not fit is sent once, and a further attempt fails
// before it sends half of it.
func TestMaxBufferTooShort(t *testing.T) {
	long := strings.Repeat("0123456789", 10)
	for _, tt := range []struct {
		name string
		read int // by the first attempt
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
			body := <-bodies // which a goroutine of the first attempt still reads
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
