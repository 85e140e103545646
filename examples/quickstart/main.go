//go:build !js

// Quickstart starts a server that fails in scripted ways, calls it, and prints the code of
// each call beside what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = run(context.Background(), os.Stdout, listener, new(net.Dialer).DialContext, rand.Float64)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// A stage is what the scenes play on.
type stage struct {
	w         io.Writer
	server    *server
	url       string
	transport *http.Transport
	random    func() float64
	said      string // the outcome of the latest scene
}

// run serves the scripts on listener and plays all scenes. The test connects client and
// server in memory and fixes the random numbers.
func run(ctx context.Context, w io.Writer, listener net.Listener, dial dialer, random func() float64) error {
	server := startServer(listener)
	defer server.close()
	s := &stage{
		w: w, server: server, url: "http://" + listener.Addr().String(), random: random,
		// On reused connections, net/http silently retries a lost GET, and the timeline would
		// not show it.
		transport: &http.Transport{DialContext: dial, DisableKeepAlives: true},
	}
	for i, scene := range scenes {
		fmt.Fprintf(w, "%d. %s\n\n%s\n\n", i+1, scene.title, code(scene.name))
		if err := scene.run(ctx, s); err != nil {
			s.said = err.Error()
		}
		fmt.Fprintf(w, "   => %s\n\n", s.said)
		if !strings.Contains(s.said, scene.ends) {
			return fmt.Errorf("scene %d, %s: %q does not contain %q", i+1, scene.name, s.said, scene.ends)
		}
	}
	return nil
}

// say sets the outcome of the scene.
func (s *stage) say(text string) { s.said = text }

// shown returns the policy with hooks that print what each attempt did.
func (s *stage) shown(p retry.Policy) retry.Policy {
	p.Rand = s.random
	return newTimeline(s.w).watch(p)
}

// get makes one attempt; it contains no retry logic.
func (s *stage) get(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return "", retry.Permanent(err)
	}
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	return string(body), retryhttp.CheckStatus(resp)
}

// hundred calls a server that is down a hundred times, at once.
func (s *stage) hundred(ctx context.Context, p retry.Policy) error {
	before := s.server.requests()
	p.Rand = s.random
	var calls sync.WaitGroup
	for range 100 {
		calls.Go(func() {
			_ = retry.Do(ctx, p, func(ctx context.Context) error {
				_, err := s.get(ctx, "/down")
				return err
			})
		})
	}
	calls.Wait()
	return fmt.Errorf("100 calls failed, and the server got %d requests", s.server.requests()-before)
}

var errNotRefused = errors.New("the request was not refused")

// ask sends a request to a handler, and returns what a refusal says.
func (s *stage) ask(handler http.Handler) error {
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/", nil))
	resp := response.Result()
	defer resp.Body.Close()
	err := retryhttp.CheckStatus(resp)
	if err == nil {
		return errNotRefused
	}
	return fmt.Errorf("%w, Retry-After: %s", err, resp.Header.Get("Retry-After"))
}

func outcome(a retry.Attempt) string {
	var status *retryhttp.StatusError
	switch {
	case a.Err == nil:
		return "200 OK"
	case errors.As(a.Err, &status) && a.Hint > 0:
		return fmt.Sprintf("%v, asks for %v", status, a.Hint)
	case errors.As(a.Err, &status):
		return status.Error()
	}
	return "connection lost"
}
