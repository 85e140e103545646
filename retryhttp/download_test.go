package retryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// download writes a resource to w. If the response breaks off or stalls, it requests the rest.
// sign returns a URL of the resource that is valid for some time.
func download(ctx context.Context, client *http.Client, p retry.Policy, sign func() string, w io.Writer) error {
	var written int64
	var version string
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, sign(), nil)
		if err != nil {
			return retry.Permanent(err)
		}
		req.Header.Set("Accept-Encoding", "identity") // so that positions are those of the resource
		switch {
		case written > 0 && version == "":
			return retry.Permanent(errors.New("the server names no version, so the rest may be of another"))
		case written > 0:
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-", written))
			req.Header.Set("If-Range", version)
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if err := retryhttp.CheckStatus(resp); err != nil {
			return err
		}
		begins := fmt.Sprintf("bytes %d-", written)
		if written > 0 && !strings.HasPrefix(resp.Header.Get("Content-Range"), begins) {
			return retry.Permanent(errors.New("the resource has changed"))
		}
		if version = resp.Header.Get("Etag"); version == "" {
			version = resp.Header.Get("Last-Modified")
		}
		n, err := io.Copy(w, resp.Body)
		written += n
		if n > 0 {
			return retry.Progress(err) // attempts are counted from here
		}
		return err
	})
}

// ending is how each response of a server of downloads ends.
type ending struct {
	http.ResponseWriter
	left int
	stop func()
}

func (w *ending) Write(p []byte) (int, error) {
	if len(p) > w.left {
		_, _ = w.ResponseWriter.Write(p[:w.left])
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		w.stop()
		panic(http.ErrAbortHandler)
	}
	w.left -= len(p)
	return w.ResponseWriter.Write(p)
}

// TestDownload: the way of the page arrives where the body of one response does not: after
// cuts and stalls, with a URL that is valid for one request, and with either kind of version.
func TestDownload(t *testing.T) {
	content := text(1 << 20)
	for name, tt := range map[string]struct {
		etag     string // %d: the number of the request
		modified time.Time
		stalls   bool
		once     bool // a URL is valid for one request
		busy     bool // each second request gets a 503
		failure  string
	}{
		"cut":             {etag: `"1"`},
		"stalled":         {etag: `"1"`, stalls: true},
		"unavailable":     {etag: `"1"`, busy: true},
		"URL expires":     {etag: `"1"`, once: true},
		"a date, no ETag": {modified: time.Unix(1e9, 0)},
		"changed":         {etag: `"%d"`, failure: "the resource has changed"},
		"no version":      {failure: "the server names no version"},
	} {
		t.Run(name, func(t *testing.T) {
			var signed, requests atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := requests.Add(1)
				if tt.once && r.URL.Path != fmt.Sprint("/", n) {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				if tt.busy && n%2 == 0 {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				if tt.etag != "" {
					w.Header().Set("Etag", strings.Replace(tt.etag, "%d", fmt.Sprint(n), 1))
				}
				stop := func() {
					if tt.stalls {
						<-r.Context().Done()
					}
				}
				http.ServeContent(&ending{w, 200_000, stop}, r, "content.bin", tt.modified, strings.NewReader(content))
			}))
			defer s.Close()
			client := &http.Client{Transport: &retryhttp.Transport{
				Base: s.Client().Transport, Policy: retry.Policy{Backoff: retry.NoDelay{}}, StallTimeout: 50 * time.Millisecond,
			}}
			var got strings.Builder
			sign := func() string { return fmt.Sprint(s.URL, "/", signed.Add(1)) }
			err := download(t.Context(), client, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 10}, sign, &got)
			if tt.failure != "" {
				assert.ErrorContains(t, err, tt.failure)
				return
			}
			assert.NoError(t, err)
			assert.True(t, content == got.String())
		})
	}
}
