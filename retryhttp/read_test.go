package retryhttp_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// cutOff executes the request, and breaks off the response after a part of it.
func cutOff(x *exchange) {
	x.process()
	x.begin(http.StatusOK, 1000, "only the begi")
	abort(x)
}

// TestRead: a response that breaks off is retried if the request may be executed twice.
// Otherwise the request is executed once and the error says so.
func TestRead(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				s := newServer(t, protocol, cutOff, ok)
				req := k.request(t, s.URL, text(10))
				resp, whole, err := retryhttp.Read(&http.Client{Transport: s.transport()}, req.Request)
				_, executed := s.seen()
				if k.repeatable {
					require.NoError(t, err)
					assert.Equal(t, content, string(whole))
					assert.Equal(t, http.StatusOK, resp.StatusCode)
					assert.Equal(t, 2, retryhttp.AttemptNumber(resp.Request.Context()))
					assert.Len(t, executed, 2)
					return
				}
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				assert.ErrorContains(t, err, "the response broke off after")
				assert.Len(t, executed, 1)
			})
		})
	}
}

// TestReadElsewhere: a failure is returned with its content, a policy applies, and a
// client without a Transport reads once.
func TestReadElsewhere(t *testing.T) {
	s := newServer(t, http1, respond(503, "later"), respond(503, "later"), respond(503, "still later"))
	req := get.request(t, s.URL, "")
	resp, data, err := retryhttp.Read(&http.Client{Transport: s.transport()}, req.Request)
	require.NoError(t, err)
	assert.Equal(t, 503, resp.StatusCode)
	assert.Equal(t, "still later", string(data))

	s = newServer(t, http1, cutOff)
	for _, rt := range []http.RoundTripper{s.base, s.transport()} {
		req := get.request(t, s.URL, "")
		ctx := retryhttp.WithPolicy(req.Context(), retry.Policy{MaxAttempts: 1})
		_, _, err = retryhttp.Read(&http.Client{Transport: rt}, req.WithContext(ctx))
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	_, executed := s.seen()
	assert.Len(t, executed, 2)

	_, _, err = retryhttp.Read(&http.Client{Transport: s.transport()}, req.WithContext(canceled(t)))
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, strings.HasPrefix(err.Error(), "Get "))
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestReadSwitchedProtocols: Read does not wait for a connection that is no HTTP any more.
func TestReadSwitchedProtocols(t *testing.T) {
	open, _ := io.Pipe()
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Header: http.Header{}, Body: open, Request: req}, nil
	})
	resp, data, err := retryhttp.Read(&http.Client{Transport: &retryhttp.Transport{Base: base}}, request(t, "GET", ""))
	require.NoError(t, err)
	assert.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	assert.Empty(t, data)
	_, err = open.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

// TestReadBrokenOff: a response that broke off makes the next one ambiguous, and is no
// timeout.
func TestReadBrokenOff(t *testing.T) {
	requests, p := 0, quick()
	var failed error
	p.OnRetry = func(_ context.Context, a retry.Attempt, _ time.Duration) { failed = a.Err }
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		requests++
		body := io.MultiReader(strings.NewReader("abc"), failingReader{io.ErrUnexpectedEOF})
		if requests > 1 {
			body = strings.NewReader("complete")
		}
		return &http.Response{StatusCode: http.StatusOK, ContentLength: 8, Body: io.NopCloser(body), Request: req}, nil
	})
	client := &http.Client{Transport: &retryhttp.Transport{Base: base, Policy: p}}
	resp, _, err := retryhttp.Read(client, request(t, "PUT", "content"))
	require.NoError(t, err)
	assert.True(t, retryhttp.Ambiguous(resp))
	assert.ErrorIs(t, failed, io.ErrUnexpectedEOF)
	assert.NotContains(t, failed.Error(), "attempt exceeded")
}

// TestReadTooMuch: content above 64 MiB, or above MaxRead if that is more, is an error that
// names the field, and a length that is declared is not read first.
func TestReadTooMuch(t *testing.T) {
	const usual = 64 << 20
	for name, tt := range map[string]struct {
		most, declared, content int64
		read                    int64 // 0: all is returned
	}{
		"above a small MaxRead":     {most: 10, declared: 11, content: 11},
		"as much as allowed":        {most: 70 << 20, declared: -1, content: 70 << 20},
		"the default":               {declared: -1, content: usual + 10, read: usual + 1},
		"the default, declared":     {declared: usual + 1, content: usual + 1, read: -1},
		"a large MaxRead":           {most: 70 << 20, declared: -1, content: 80 << 20, read: 70<<20 + 1},
		"a large MaxRead, declared": {most: 70 << 20, declared: 80 << 20, content: 80 << 20, read: -1},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			var body *io.LimitedReader
			base := roundTripper(func(*http.Request) (*http.Response, error) {
				requests++
				body = &io.LimitedReader{R: zeros{}, N: tt.content}
				return &http.Response{StatusCode: http.StatusOK, ContentLength: tt.declared, Body: io.NopCloser(body)}, nil
			})
			client := &http.Client{Transport: &retryhttp.Transport{Base: base, MaxRead: tt.most}}
			_, content, err := retryhttp.Read(client, request(t, "GET", ""))
			assert.Equal(t, 1, requests, "it is not retried")
			if tt.read == 0 {
				require.NoError(t, err)
				assert.Len(t, content, int(tt.content))
				return
			}
			require.ErrorContains(t, err, "see Transport.MaxRead")
			assert.Equal(t, max(0, tt.read), tt.content-body.N)
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
