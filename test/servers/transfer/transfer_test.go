// Package transfer_test uploads to real servers, over connections that break off.
package transfer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"

	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
	"github.com/fullstorydev/emulators/storage/gcsemu"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tus/tusd/v2/pkg/filestore"
	tusd "github.com/tus/tusd/v2/pkg/handler"
	"github.com/tus/tusd/v2/pkg/memorylocker"
	"golang.org/x/exp/slog"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/transfer"
)

// A server takes uploads.
type server struct {
	http     *httptest.Server
	protocol func(data []byte) transfer.Protocol
	begin    func(t *testing.T, size int) string // returns the URL of a new upload
	stored   func(t *testing.T, data []byte) []byte
	forgets  bool // the server does not know an upload that is complete
}

func do(t *testing.T, method, url, body string, headers map[string]string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	content, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Less(t, resp.StatusCode, 300, string(content))
	return resp, content
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// newTusd returns a server for tus 1.0 and one for the draft of the IETF.
func newTusd(t *testing.T) (tus, draft *server) {
	folder := t.TempDir()
	composer := tusd.NewStoreComposer()
	filestore.New(folder).UseIn(composer)
	memorylocker.New().UseIn(composer)
	h, err := tusd.NewHandler(tusd.Config{
		BasePath: "/files/", StoreComposer: composer, EnableExperimentalProtocol: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	require.NoError(t, err)
	s := serve(t, http.StripPrefix("/files/", h))
	var id string
	stored := func(t *testing.T, _ []byte) []byte {
		data, err := os.ReadFile(filepath.Join(folder, id))
		require.NoError(t, err)
		return data
	}
	begin := func(headers func(size int) map[string]string) func(t *testing.T, size int) string {
		return func(t *testing.T, size int) string {
			resp, _ := do(t, http.MethodPost, s.URL+"/files/", "", headers(size))
			location, err := resp.Location()
			require.NoError(t, err)
			id = filepath.Base(location.Path)
			return location.String()
		}
	}
	tus = &server{
		http: s, protocol: func([]byte) transfer.Protocol { return transfer.Tus{} }, stored: stored,
		begin: begin(func(size int) map[string]string {
			return map[string]string{"Tus-Resumable": "1.0.0", "Upload-Length": strconv.Itoa(size)}
		}),
	}
	draft = &server{
		http: s, protocol: func([]byte) transfer.Protocol { return transfer.Draft{Version: 6} }, stored: stored,
		begin: begin(func(int) map[string]string {
			return map[string]string{"Upload-Draft-Interop-Version": "6", "Upload-Complete": "?0"}
		}),
	}
	return tus, draft
}

// newGoogle returns an emulator of Google's storage.
func newGoogle(t *testing.T) *server {
	emulator := gcsemu.NewGcsEmu(gcsemu.Options{Log: func(error, string, ...any) {}})
	mux := http.NewServeMux()
	emulator.Register(mux)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut { // of Google's documentation; the emulator knows the POST of its Go client
			r.Method = http.MethodPost
		}
		mux.ServeHTTP(w, r)
	}))
	require.NoError(t, emulator.InitBucket("b"))
	return &server{
		http:     s,
		forgets:  true,
		protocol: func([]byte) transfer.Protocol { return transfer.Google{} },
		begin: func(t *testing.T, _ int) string {
			resp, _ := do(t, http.MethodPost, s.URL+"/upload/storage/v1/b/b/o?uploadType=resumable&name=n", `{"name":"n"}`, map[string]string{"Content-Type": "application/json"})
			return resp.Header.Get("Location")
		},
		stored: func(t *testing.T, _ []byte) []byte {
			_, body := do(t, http.MethodGet, s.URL+"/download/storage/v1/b/b/o/n?alt=media", "", nil)
			return body
		},
	}
}

// newRegistry returns the reference implementation of a registry.
func newRegistry(t *testing.T) *server {
	config := &configuration.Configuration{Storage: configuration.Storage{"inmemory": nil, "maintenance": {"uploadpurging": map[any]any{"enabled": false}}}}
	config.HTTP.Secret = "secret"
	logrus.SetOutput(io.Discard)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	app := handlers.NewApp(ctx, config)
	var one sync.Mutex // it does not lock uploads: a question that arrives before the end of a cut part gets an old answer
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		app.ServeHTTP(w, r)
	}))
	return &server{
		http:     s,
		protocol: func(data []byte) transfer.Protocol { return transfer.Registry{Digest: digest(data)} },
		begin: func(t *testing.T, _ int) string {
			resp, _ := do(t, http.MethodPost, s.URL+"/v2/a/b/blobs/uploads/", "", nil)
			return resp.Header.Get("Location")
		},
		stored: func(t *testing.T, data []byte) []byte {
			_, body := do(t, http.MethodGet, s.URL+"/v2/a/b/blobs/"+digest(data), "", nil)
			return body
		},
	}
}

func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func digest(data []byte) string { return "sha256:" + sum(data) }

// breaking cuts requests and loses responses.
type breaking struct {
	cut  func(n int) int  // bytes of the body of request n that arrive; below 0: all
	lose func(n int) bool // the response to request n
	n    int
	last func(*http.Request) bool // whether a request must not complete without its response; nil: none must
}

var errCut = errors.New("the connection is cut")

func (b *breaking) RoundTrip(req *http.Request) (*http.Response, error) {
	n := b.n
	b.n++
	most := int64(b.cut(n))
	if b.last != nil && b.last(req) {
		most = min(most, req.ContentLength-1)
	}
	if most >= 0 && req.Body != nil && req.ContentLength > 0 {
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(io.MultiReader(io.LimitReader(req.Body, most), failingReader{}))
		req.GetBody = nil
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && b.lose(n) && (b.last == nil || !b.last(req)) {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return nil, errCut
	}
	return resp, err
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errCut }

func upload(t *testing.T, s *server, data []byte, part int64, b *breaking) {
	t.Helper()
	if s.forgets {
		b.last = func(req *http.Request) bool {
			return strings.HasSuffix(req.Header.Get("Content-Range"), fmt.Sprintf("-%d/%d", len(data)-1, len(data)))
		}
	}
	up := transfer.Upload{
		Client:   &http.Client{Transport: &retryhttp.Transport{Base: b, Policy: retry.Policy{Backoff: retry.NoDelay{}}}},
		Protocol: s.protocol(data), URL: s.begin(t, len(data)), Part: part,
		Policy: retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 20},
	}
	resp, err := up.Send(t.Context(), bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, digest(data), digest(s.stored(t, data)))
}

// TestUpload: wherever a request is cut, and whichever response is lost, the server has the file.
func TestUpload(t *testing.T) {
	tus, draft := newTusd(t)
	whole := func(int) int { return -1 }
	none := func(int) bool { return false }
	for name, s := range map[string]*server{"tus": tus, "draft": draft, "google": newGoogle(t), "registry": newRegistry(t)} {
		t.Run(name, func(t *testing.T) {
			short := []byte(name + " 0123456789abcdefghijklmnop")
			for at := range len(short) + 1 {
				upload(t, s, short, 0, &breaking{lose: none, cut: func(n int) int { return map[bool]int{true: at, false: -1}[n == 1] }})
			}
			for lost := range 8 {
				upload(t, s, append(short, byte(lost)), 10, &breaking{cut: whole, lose: func(n int) bool { return n == lost }})
			}
			long := make([]byte, 300_000)
			for seed := range 20 {
				random := rand.New(rand.NewPCG(uint64(seed), 1))
				for i := range long {
					long[i] = byte(random.Uint32())
				}
				upload(t, s, long, int64(random.IntN(3))*50_000, &breaking{
					lose: func(int) bool { return random.IntN(5) == 0 },
					cut:  func(int) int { return map[bool]int{true: random.IntN(60_000), false: -1}[random.IntN(3) == 0] },
				})
			}
			assert.NotEmpty(t, s.stored(t, long))
		})
	}
}
