// Package clients runs the table "Clients that retry" of docs/http.md: real clients over a
// retryhttp.Transport, beside the same clients without it.
package clients

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retryhttp"
)

// A row is one client, set up as the page says.
type row struct {
	name      string
	transport func() *retryhttp.Transport
	most      int // requests that a call makes in a minute, if the server only fails
	// calls returns a call that reads and one that writes. If bare, the client keeps its own
	// retries, as without a Transport.
	calls func(t *testing.T, client *http.Client, bare bool) (read, write call)
	// answer is what the server responds.
	answer func(w http.ResponseWriter, r *http.Request)
}

type call func(ctx context.Context) error

// below is for a client that keeps its own retries.
func below() *retryhttp.Transport {
	return &retryhttp.Transport{Policy: retry.Policy{MaxAttempts: retry.NoRetry}, MaxRead: 1 << 20}
}

// instead is for a client that has no retries, or whose retries are off.
func instead() *retryhttp.Transport {
	return &retryhttp.Transport{MaxRead: 1 << 20}
}

// A fault is what a server does instead of answering.
type fault struct {
	executes bool // before it fails
	fail     func(w http.ResponseWriter, answer func(http.ResponseWriter))
}

var faults = map[string]fault{
	"503": {false, func(w http.ResponseWriter, _ func(http.ResponseWriter)) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}},
	"429": {false, func(w http.ResponseWriter, _ func(http.ResponseWriter)) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	}},
	"lost": {true, func(http.ResponseWriter, func(http.ResponseWriter)) { panic(http.ErrAbortHandler) }},
	"cut": {true, func(w http.ResponseWriter, answer func(http.ResponseWriter)) {
		answer(&cutWriter{w})
		panic(http.ErrAbortHandler)
	}},
}

// cutWriter sends half of a body, and its whole length.
type cutWriter struct{ http.ResponseWriter }

func (w *cutWriter) Write(p []byte) (int, error) {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.ResponseWriter.Write(p[:len(p)/2])
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	return len(p), nil
}

type result struct {
	err                error
	requests, executed int
}

func (r result) String() string {
	return fmt.Sprintf("%d requests, %d executed, succeeded: %t", r.requests, r.executed, r.err == nil)
}

// run makes one call to a server that fails times times.
func (r row) run(t *testing.T, f fault, times int, writes, bare bool) (got result) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		var mu sync.Mutex
		handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body)
			if req.URL.Path == "/v2/" { // by which the client of a registry begins
				return
			}
			mu.Lock()
			got.requests++
			fails := got.requests <= times
			if (!fails || f.executes) && req.URL.Path != "/token" { // a token more does no harm
				got.executed++
			}
			mu.Unlock()
			if fails {
				f.fail(w, func(w http.ResponseWriter) { r.answer(w, req) })
				return
			}
			r.answer(w, req)
		})
		server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: handler}
		go func() { _ = server.Serve(network) }()
		base := &http.Transport{DialContext: network.Dial}
		client := &http.Client{Transport: base}
		if !bare {
			transport := r.transport()
			transport.Base = base
			client.Transport = transport
			defer transport.CloseIdleConnections()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		call, write := r.calls(t, client, bare)
		if writes {
			call = write
		}
		got.err = call(ctx)
		base.CloseIdleConnections()
		_ = server.Close()
	})
	return got
}

// TestClients: with the setup of the page, a client is never worse than without a Transport:
// it succeeds where the bare client does, and executes nothing twice that the bare client
// executes once. A response that breaks off counts as one that is lost, because that is what
// MaxRead makes of it. Its requests to a server that only fails are as many as the page says.
func TestClients(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			for kind, writes := range map[string]bool{"read": false, "write": true} {
				for name, f := range faults {
					bare, ours := r.run(t, f, 1, writes, true), r.run(t, f, 1, writes, false)
					t.Logf("%s, %s: %v; bare %v", kind, name, ours, bare)
					if bare.err == nil {
						assert.NoError(t, ours.err, "%s, %s", kind, name)
					}
					if writes {
						likeLost := bare.executed
						if name == "cut" {
							likeLost = r.run(t, faults["lost"], 1, writes, true).executed
						}
						assert.LessOrEqual(t, ours.executed, max(1, likeLost), "%s, %s: executed", kind, name)
					}
					always := r.run(t, f, 1000, writes, false)
					t.Logf("%s, %s always: %v; bare %v", kind, name, always, r.run(t, f, 1000, writes, true))
					assert.LessOrEqual(t, always.requests, r.most, "%s, %s", kind, name)
				}
			}
		})
	}
}
