package retryhttp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// sends executes the request and sends part, without a length, and breaks off if cut.
func sends(header, part string, cut bool) step {
	return func(x *exchange) {
		x.process()
		if name, value, ok := strings.Cut(header, ": "); ok {
			x.Header().Set(name, value)
		}
		_, _ = io.WriteString(x, part)
		_ = http.NewResponseController(x.ResponseWriter).Flush()
		if cut {
			abort(x)
		}
	}
}

func compressed(t *testing.T, text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// TestMaxRead: a response that breaks off after its headers is retried if the request may be
// repeated. Otherwise the caller gets what a plain client gets.
func TestMaxRead(t *testing.T) {
	packed := compressed(t, text(5000))
	for name, fault := range map[string]step{
		"declared":   cutOff,
		"undeclared": sends("", "the ri", true),
		"empty":      sends("", "", true),
		"compressed": sends("Content-Encoding: gzip", packed[:len(packed)/2], true),
	} {
		for _, k := range kinds {
			t.Run(name+"/"+k.name, func(t *testing.T) {
				overBoth(t, func(t *testing.T, protocol string) {
					s := newServer(t, protocol, fault, ok)
					transport := s.transport()
					transport.MaxRead = 1 << 20
					got := k.request(t, s.URL, text(10)).send(t, transport)
					_, executed := s.seen()
					if k.repeatable {
						got.isRight(t)
						assert.Len(t, executed, 2)
						return
					}
					require.NoError(t, got.err)
					assert.Equal(t, http.StatusOK, got.status)
					assert.Error(t, got.bodyErr)
					assert.Len(t, executed, 1)
				})
			})
		}
	}
}

// TestMaxReadPassesOn: whatever the length of the body, none of its bytes is lost, and a body
// that is longer than MaxRead is not retried.
func TestMaxReadPassesOn(t *testing.T) {
	const most = 10_000
	for name, tt := range map[string]struct {
		n             int
		declared, cut bool
		requests      int
	}{
		"as long":                   {n: most, requests: 1},
		"as long, declared":         {n: most, declared: true, requests: 1},
		"as long, cut":              {n: most, cut: true, requests: 3},
		"longer":                    {n: most + 1, requests: 1},
		"longer, declared":          {n: most + 1, declared: true, requests: 1},
		"longer, cut":               {n: most + 1, cut: true, requests: 1},
		"longer, declared, cut":     {n: most + 1, declared: true, cut: true, requests: 1},
		"much longer":               {n: 100 * most, requests: 1},
		"much longer, declared":     {n: 100 * most, declared: true, requests: 1},
		"much longer, and it fails": {n: 100 * most, cut: true, requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				sent := text(tt.n)
				fault := sends("", sent, tt.cut)
				if tt.declared {
					fault = func(x *exchange) {
						x.process()
						length := len(sent)
						if tt.cut {
							length++
						}
						x.begin(http.StatusOK, length, sent)
						if tt.cut {
							abort(x)
						}
					}
				}
				s := newServer(t, protocol, fault)
				transport := s.transport()
				transport.MaxRead = most
				got := get.request(t, s.URL, "").send(t, transport)
				_, executed := s.seen()
				assert.Len(t, executed, tt.requests)
				if tt.requests > 1 {
					assert.ErrorIs(t, got.err, retry.ErrMaxAttempts)
					return
				}
				require.NoError(t, got.err)
				assert.True(t, sent == got.body, "%d bytes", len(got.body))
				assert.Equal(t, tt.cut, got.bodyErr != nil)
			})
		})
	}
}

// TestMaxReadOfAnyLength: the length that a server declares allocates no memory before the bytes
// arrive, and MaxRead may be the largest number.
func TestMaxReadOfAnyLength(t *testing.T) {
	for _, declared := range []int64{-1, 10, 1 << 50, math.MaxInt64} {
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, ContentLength: declared, Body: io.NopCloser(strings.NewReader("0123456789")), Request: req}, nil
		})
		resp, err := (&retryhttp.Transport{Base: base, MaxRead: math.MaxInt64}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "0123456789", string(data))
	}
}

// TestMaxReadGivesUp: the error says why, and is what a caller tests for.
func TestMaxReadGivesUp(t *testing.T) {
	s := newServer(t, http1, cutOff)
	p := retry.Policy{Backoff: retry.NoDelay{}}
	client := &http.Client{Transport: &retryhttp.Transport{Base: s.base, Policy: p, MaxRead: 100_000}}
	_, err := client.Get(s.URL)
	require.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, "the response broke off after 13 bytes")
}

// events is the body of a stream: an event at once, and one after each hour.
func events(ctx context.Context) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		for {
			if _, err := io.WriteString(w, "event\n"); err != nil {
				return
			}
			select {
			case <-time.After(time.Hour):
			case <-ctx.Done():
				_ = w.CloseWithError(ctx.Err())
			}
		}
	}()
	return r
}

// TestMaxReadStreams: a stream reaches its reader at once if its type says that it is one, and
// otherwise after a second. Closing it ends everything.
func TestMaxReadStreams(t *testing.T) {
	for kind, delay := range map[string]time.Duration{
		"application/json":                 time.Second,
		"":                                 time.Second,
		"text/event-stream":                0,
		"Text/Event-Stream; charset=utf-8": 0,
		"application/x-ndjson":             0,
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				base := roundTripper(func(req *http.Request) (*http.Response, error) {
					header := http.Header{"Content-Type": {kind}}
					return &http.Response{StatusCode: http.StatusOK, Header: header, ContentLength: -1, Body: events(ctx), Request: req}, nil
				})
				begun := time.Now()
				resp, err := (&retryhttp.Transport{Base: base, MaxRead: 1 << 20}).RoundTrip(request(t, "GET", ""))
				require.NoError(t, err)
				event := make([]byte, 6)
				for i := range 4 {
					_, err := io.ReadFull(resp.Body, event)
					require.NoError(t, err)
					assert.Equal(t, "event\n", string(event))
					want := max(delay, time.Duration(i)*time.Hour)
					assert.Equal(t, want, time.Since(begun))
				}
				require.NoError(t, resp.Body.Close())
				_, err = resp.Body.Read(event)
				assert.Error(t, err)
			})
		})
	}
}

// TestMaxReadSlow: a body that arrives slowly is complete, whoever reads it.
func TestMaxReadSlow(t *testing.T) {
	for name, declared := range map[string]int64{"declared": 3000, "undeclared": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := text(3000)
				base := roundTripper(func(req *http.Request) (*http.Response, error) {
					r, w := io.Pipe()
					go func() {
						for part := range slices.Chunk([]byte(sent), 7) {
							_, _ = w.Write(part)
							time.Sleep(10 * time.Millisecond)
						}
						_ = w.Close()
					}()
					return &http.Response{StatusCode: http.StatusOK, ContentLength: declared, Body: r, Request: req}, nil
				})
				resp, err := (&retryhttp.Transport{Base: base, MaxRead: 1 << 20}).RoundTrip(request(t, "GET", ""))
				require.NoError(t, err)
				data, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				assert.Equal(t, sent, string(data))
			})
		})
	}
}
