package transfer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/transfer"
)

// cutter ends a response after some bytes.
type cutter struct {
	http.ResponseWriter
	left int
	stop func() // before the end; nil: none
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		if c.stop != nil {
			c.stop()
		}
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// files is a server of one resource, whose responses break off after a random number of bytes.
func files(t *testing.T, random *rand.Rand, version func(n int64) (etag string, data []byte), requests *atomic.Int64) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		etag, data := version(requests.Add(1))
		modified := time.Time{}
		if etag == "date" {
			modified = time.Unix(1e9, 0)
		} else if etag != "" {
			w.Header().Set("Etag", etag)
		}
		http.ServeContent(&cutter{w, 1 + random.IntN(len(data)*2), nil}, r, "x.bin", modified, bytes.NewReader(data))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func quick() *http.Client {
	return &http.Client{Transport: &retryhttp.Transport{
		Policy: retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 30}, StallTimeout: time.Minute,
	}}
}

// TestDownload: whatever breaks off, what has arrived is one version, whole.
func TestDownload(t *testing.T) {
	for _, kind := range []string{`"1"`, "date", "changes", "changes, no version", "corrupt once"} {
		t.Run(kind, func(t *testing.T) {
			for seed := range 30 {
				random := rand.New(rand.NewPCG(uint64(seed), 2))
				data, other := content(200_000), bytes.Repeat([]byte("another one"), 15_000)
				var n atomic.Int64
				s := files(t, random, func(n int64) (string, []byte) {
					switch {
					case kind == "changes" && n < 3:
						return `"0"`, other
					case kind == "changes, no version" && n < 3:
						return "", other
					case kind == "corrupt once" && n == 1:
						bad := bytes.Clone(data)
						bad[0] ^= 1
						return `"1"`, bad
					case kind == "date":
						return kind, data
					}
					return `"1"`, data
				}, &n)
				name := filepath.Join(t.TempDir(), "file")
				down := transfer.Download{Client: quick(), URL: s.URL, Verify: transfer.SHA256(sum(data)), Policy: retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 40}}
				require.NoError(t, down.File(t.Context(), name))
				got, err := os.ReadFile(name)
				require.NoError(t, err)
				require.True(t, bytes.Equal(got, data))
				rest, _ := filepath.Glob(name + ".*")
				require.Empty(t, rest)
				s.Close()
			}
		})
	}
}

// TestDownloadAgain: another process goes on where the first was ended, and requests no byte twice.
func TestDownloadAgain(t *testing.T) {
	data := content(200_000)
	var sent atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		left := 60_000
		sent.Add(int64(left))
		http.ServeContent(&cutter{w, left, nil}, r, "x.bin", time.Time{}, bytes.NewReader(data))
	}))
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	name := filepath.Join(t.TempDir(), "file")
	processes := 0
	for err := errors.New("not begun"); err != nil; processes++ {
		require.Less(t, processes, 10)
		down := transfer.Download{Client: quick(), URL: s.URL, Policy: retry.Policy{MaxAttempts: retry.NoRetry}}
		err = down.File(t.Context(), name)
	}
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(got, data))
	assert.Equal(t, 4, processes)
	assert.LessOrEqual(t, sent.Load(), int64(240_000))
}

// TestDownloadTo: a writer gets each byte once, although responses stall and the server is
// unavailable in between.
func TestDownloadTo(t *testing.T) {
	data := content(1 << 20)
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(&cutter{w, 200_000, func() { <-r.Context().Done() }}, r, "x.bin", time.Time{}, bytes.NewReader(data))
	}))
	defer s.Close()
	client := &http.Client{Transport: &retryhttp.Transport{Policy: retry.Policy{Backoff: retry.NoDelay{}}, StallTimeout: 50 * time.Millisecond}}
	var got bytes.Buffer
	down := transfer.Download{Client: client, URL: s.URL, Policy: retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 10}}
	require.NoError(t, down.To(t.Context(), &got))
	assert.True(t, bytes.Equal(data, got.Bytes()))
}

// TestDownloadEnds: a Download ends if nothing helps.
func TestDownloadEnds(t *testing.T) {
	data := content(1000)
	var n atomic.Int64
	s := files(t, rand.New(rand.NewPCG(1, 1)), func(n int64) (string, []byte) { return fmt.Sprintf(`"%d"`, n), data }, &n)
	var w bytes.Buffer
	err := (&transfer.Download{Client: quick(), URL: s.URL}).To(t.Context(), &w)
	if err != nil { // cut at first
		assert.ErrorContains(t, err, "the rest of this version")
		assert.EqualValues(t, 2, n.Load())
	}
	err = (&transfer.Download{Client: quick(), URL: s.URL, Verify: func(io.Reader) error { return errors.New("wrong") }}).File(t.Context(), filepath.Join(t.TempDir(), "f"))
	assert.ErrorContains(t, err, "wrong")
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)

	full := errors.New("the disk is full")
	err = (&transfer.Download{Client: quick(), URL: s.URL}).To(t.Context(), writer(func([]byte) (int, error) { return 0, full }))
	assert.ErrorIs(t, err, full)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, (&transfer.Download{Client: quick(), URL: s.URL}).To(ctx, &w), context.Canceled)
}

type writer func([]byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }

// TestDownloadKeepsForeignFiles: a file that is not its own is not overwritten.
func TestDownloadKeepsForeignFiles(t *testing.T) {
	data := content(100_000)
	name := filepath.Join(t.TempDir(), "file")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(w, r, "x.bin", time.Time{}, bytes.NewReader(data))
	}))
	defer s.Close()
	down := transfer.Download{Client: quick(), URL: s.URL}
	for what, foreign := range map[string]map[string]string{
		"a part":                         {".part": "mine"},
		"a part, and an empty version":   {".part": "mine", ".version": ""},
		"a part, and a version":          {".part": "mine", ".version": "v1.2.3"},
		"a version":                      {".version": "v1.2.3"},
		"a version in JSON of its owner": {".version": `{"version": "1.2.3"}`},
	} {
		for suffix, text := range foreign {
			require.NoError(t, os.WriteFile(name+suffix, []byte(text), 0o666))
		}
		assert.ErrorContains(t, down.File(t.Context(), name), "is not of a download", what)
		for suffix, text := range foreign {
			kept, err := os.ReadFile(name + suffix)
			require.NoError(t, err, what)
			assert.Equal(t, text, string(kept), what)
			require.NoError(t, os.Remove(name+suffix))
		}
	}

	once := false
	down.Client = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && !once { // the other program writes after the response has begun
			once = true
			require.NoError(t, os.WriteFile(name+".part", []byte("another"), 0o666))
		}
		return resp, err
	})}
	assert.ErrorContains(t, down.File(t.Context(), name), "another program writes to")
	kept, err := os.ReadFile(name + ".part")
	require.NoError(t, err)
	assert.Equal(t, "another", string(kept))
	_, err = os.Stat(name)
	assert.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, os.Remove(name+".part"))
	down.Verify = func(io.Reader) error { // the other program writes after the last byte has arrived
		f, err := os.OpenFile(name+".part", os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("more")
		require.NoError(t, err)
		return f.Close()
	}
	assert.ErrorContains(t, down.File(t.Context(), name), "another program writes to")
	_, err = os.Stat(name)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestDownloadOfAnotherURL: the bytes of another resource do not count, whatever its version.
func TestDownloadOfAnotherURL(t *testing.T) {
	data := map[string][]byte{"/a": bytes.Repeat([]byte("a"), 1000), "/b": bytes.Repeat([]byte("b"), 1000)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		if r.URL.Path == "/a" {
			w = &cutter{w, 500, nil}
		}
		http.ServeContent(w, r, "x.bin", time.Time{}, bytes.NewReader(data[r.URL.Path]))
	}))
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	name := filepath.Join(t.TempDir(), "file")
	down := transfer.Download{Client: quick(), URL: s.URL + "/a?signature=1", Policy: retry.Policy{MaxAttempts: retry.NoRetry}}
	require.Error(t, down.File(t.Context(), name))
	state, err := os.ReadFile(name + ".version")
	require.NoError(t, err)
	assert.NotContains(t, string(state), "signature")
	down.URL = s.URL + "/b"
	require.NoError(t, down.File(t.Context(), name))
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(data["/b"]), string(got))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
