package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/transfer"
)

var protocols = map[string]transfer.Protocol{
	"/google": transfer.Google{}, "/tus": transfer.Tus{}, "/draft": transfer.Draft{Version: 8}, "/registry": transfer.Registry{Digest: "sha256:1"},
}

// TestUpload: whatever breaks off, the server has each byte once, and no part begins at a wrong
// offset.
func TestUpload(t *testing.T) {
	faults := []string{"", "", "before", "within", "after", "busy", "interrupted"}
	before := runtime.NumGoroutine()
	runs, refused, requests, parts := 0, 0, 0, 0
	for path, protocol := range protocols {
		for _, http2 := range []bool{false, true} {
			t.Run(fmt.Sprint(path, " HTTP/2 ", http2), func(t *testing.T) {
				for seed := range 40 {
					runs++
					random := rand.New(rand.NewPCG(uint64(seed), 1))
					size := random.IntN(300_000)
					data := content(size)
					s := newStore(t, http2, size, func(int) string { return faults[random.IntN(len(faults))] })
					up := transfer.Upload{
						Client: s.client(), URL: s.URL + path, Protocol: protocol, Part: int64(random.IntN(3)) * 50_000,
						Policy: retry.Policy{MaxAttempts: 60, Backoff: retry.NoDelay{}},
					}
					resp, err := up.Send(t.Context(), bytes.NewReader(data), int64(size))
					require.NoError(t, err)
					_, err = io.Copy(io.Discard, resp.Body)
					if path != "/google" || resp.StatusCode != 200 { // an answer may break off, as that of any request
						require.NoError(t, err)
					}
					_ = resp.Body.Close()
					s.mu.Lock()
					require.True(t, bytes.Equal(s.got, data), "seed %d: %d bytes of %d", seed, len(s.got), size)
					refused, requests, parts = refused+s.refused, requests+s.requests, parts+s.parts
					s.mu.Unlock()
					s.Client().CloseIdleConnections()
					s.Close()
				}
			})
		}
	}
	t.Logf("%d uploads, %d requests, %d parts, %d of them at a wrong offset", runs, requests, parts, refused)
	assert.Zero(t, refused)
	for range 5000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestUploadStalls: if the server stops reading, the upload goes on where the server is.
func TestUploadStalls(t *testing.T) {
	const stalls = 5
	data := content(1_000_000)
	for path, protocol := range protocols {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := memnet.New()
				s := &store{size: len(data), fault: func(n int) string { return map[bool]string{true: "stall"}[n <= 2*stalls] }}
				server := &http.Server{Handler: s}
				go func() { _ = server.Serve(network) }()
				defer server.Close()
				client := &http.Client{Transport: &retryhttp.Transport{
					Base: &http.Transport{DialContext: network.Dial}, StallTimeout: 30 * time.Second, FirstByteTimeout: time.Minute,
				}}
				defer client.CloseIdleConnections()
				began := time.Now()
				up := transfer.Upload{Client: client, URL: "http://memory" + path, Protocol: protocol}
				resp, err := up.Send(t.Context(), bytes.NewReader(data), int64(len(data)))
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				assert.True(t, bytes.Equal(data, s.got))
				assert.Zero(t, s.refused)
				assert.Equal(t, stalls+1, s.parts)
				assert.InDelta(t, stalls*45, time.Since(began).Seconds(), stalls*16)
			})
		})
	}
}

// TestUploadAgain: a new process needs only the URL.
func TestUploadAgain(t *testing.T) {
	data := content(100_000)
	s := newStore(t, false, len(data), func(n int) string { return map[int]string{3: "within"}[n] })
	up := func() *transfer.Upload {
		return &transfer.Upload{Client: s.client(), URL: s.URL + "/tus", Protocol: transfer.Tus{}, Part: 30_000, Policy: retry.Policy{MaxAttempts: retry.NoRetry}}
	}
	_, err := up().Send(t.Context(), bytes.NewReader(data), int64(len(data)))
	assert.Error(t, err)
	resp, err := up().Send(t.Context(), bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	_ = resp.Body.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.Equal(t, data, s.got)
	assert.Zero(t, s.refused)
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// TestUploadFailures: what no repetition helps ends the upload.
func TestUploadFailures(t *testing.T) {
	gone := errors.New("the disk is gone")
	for name, tt := range map[string]struct {
		src     io.ReaderAt
		status  int
		headers map[string]string
		failure string
	}{
		"the file cannot be read": {src: failing{gone}, failure: "the disk is gone"},
		"the file has shrunk":     {src: bytes.NewReader(content(10)), failure: "unexpected EOF"},
		"the upload is gone":      {status: http.StatusNotFound, failure: "404 Not Found"},
		"too many bytes":          {status: 200, headers: map[string]string{"Upload-Offset": "101"}, failure: "101 bytes of 100"},
		"another 400":             {status: http.StatusBadRequest, failure: "400 Bad Request"},
		"no offset":               {status: 200, failure: "does not say"},
		"a negative offset":       {status: 200, headers: map[string]string{"Upload-Offset": "-5"}, failure: "does not say"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, false, 100, func(int) string { return "" })
			if tt.status != 0 {
				s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					for k, v := range tt.headers {
						w.Header().Set(k, v)
					}
					s.mu.Lock()
					defer s.mu.Unlock()
					s.requests++
					w.WriteHeader(tt.status)
				})
			}
			if tt.src == nil {
				tt.src = bytes.NewReader(content(100))
			}
			up := transfer.Upload{Client: s.client(), URL: s.URL + "/tus", Protocol: transfer.Tus{}}
			_, err := up.Send(t.Context(), tt.src, 100)
			assert.ErrorContains(t, err, tt.failure)
			s.mu.Lock()
			defer s.mu.Unlock()
			assert.LessOrEqual(t, s.requests, 2)
		})
	}
}

// TestUploadNoProgress: a server that takes nothing is not asked for ever.
func TestUploadNoProgress(t *testing.T) {
	s := newStore(t, false, 100, func(int) string { return "" })
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests++
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	up := transfer.Upload{Client: s.client(), URL: s.URL, Protocol: transfer.Google{}}
	_, err := up.Send(t.Context(), bytes.NewReader(content(100)), 100)
	assert.ErrorContains(t, err, "took none of the 100 bytes from 0 on")
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	s.Close()
	assert.Equal(t, 6, s.requests)
}

// TestUploadGoesBack: a server that has lost bytes gets them again, and one that loses them
// for ever is not asked for ever.
func TestUploadGoesBack(t *testing.T) {
	data := content(100_000)
	losses := 0
	s := newStore(t, false, len(data), func(n int) string { return map[bool]string{true: "within"}[n == 3] })
	s.lose = func(n int) bool { return n == 4 }
	up := transfer.Upload{Client: s.client(), URL: s.URL + "/tus", Protocol: transfer.Tus{}, Part: 30_000, Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	up.OnProgress = func(offset int64) {
		if offset == 0 {
			losses++
		}
	}
	resp, err := up.Send(t.Context(), bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	_ = resp.Body.Close()
	assert.Equal(t, data, s.got)
	assert.Equal(t, 2, losses)

	s = newStore(t, false, len(data), func(n int) string { return map[bool]string{true: "within"}[n%3 == 0] })
	s.lose = func(n int) bool { return n%3 == 1 }
	up.URL, up.Client = s.URL+"/tus", s.client()
	_, err = up.Send(t.Context(), bytes.NewReader(data), int64(len(data)))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
}

// TestUploadBackAndForth: a server that takes a part and refuses the next one, because it has lost
// the first, is not followed for ever.
func TestUploadBackAndForth(t *testing.T) {
	s := newStore(t, false, 100, func(int) string { return "" })
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests++
		_, _ = io.Copy(io.Discard, r.Body)
		offset, status := "0", http.StatusConflict
		switch {
		case r.Method == http.MethodHead:
			status = http.StatusOK
		case r.Header.Get("Upload-Offset") == "0":
			offset, status = "10", http.StatusNoContent
		}
		w.Header().Set("Upload-Offset", offset)
		w.WriteHeader(status)
	})
	up := transfer.Upload{Client: s.client(), URL: s.URL, Protocol: transfer.Tus{}, Part: 10, Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := up.Send(ctx, bytes.NewReader(content(100)), 100)
	assert.ErrorContains(t, err, "0 instead of 10")
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	s.Close()
	assert.Less(t, s.requests, 30)
}

// TestUploadOfChangedFile: a file that another program writes is not called uploaded.
func TestUploadOfChangedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, content(1000), 0o666))
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	s := newStore(t, false, 1000, func(int) string { return "" })
	up := transfer.Upload{Client: s.client(), URL: s.URL + "/tus", Protocol: transfer.Tus{}, Part: 400}
	up.OnProgress = func(offset int64) {
		if offset == 400 {
			require.NoError(t, os.WriteFile(name, bytes.Repeat([]byte("x"), 1001), 0o666))
		}
	}
	_, err = up.Send(t.Context(), f, 1000)
	assert.ErrorContains(t, err, "f was changed")
	assert.Len(t, s.got, 400)

	_, err = (&transfer.Upload{URL: s.URL}).Send(t.Context(), f, 1000)
	assert.ErrorIs(t, err, retry.ErrInvalid)
}
