// Quickstart starts a server that fails in scripted ways, calls it with several
// policies, and prints a timeline.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
	_ "github.com/gobackoff/retry/retryconfig/aws" // the names of the presets
	"github.com/gobackoff/retry/retryhttp"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = run(os.Stdout, listener, new(net.Dialer).DialContext, rand.Float64)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

type scenario struct {
	path   string
	policy retry.Policy
	ends   ending
	notice string
}

type ending string

const (
	succeeds ending = "succeeds"
	givesUp  ending = "gives up"
	stops    ending = "stops at a permanent failure"
)

func scenarios() []scenario {
	const patience = 300 * time.Millisecond
	standard := retry.Policy{AttemptTimeout: patience}
	java := awspreset.JavaV1Legacy.Policy("")
	java.AttemptTimeout = patience
	return []scenario{
		{"/queue", standard, succeeds, "the default policy waits as long as the server asks"},
		{"/report", standard, succeeds, "its waits are random, and longer after throttling"},
		{"/down", standard, givesUp, "the error says why the call gave up, and the last failure"},
		{"/nothing", standard, stops, "a retry would not help, so there is none"},
		{"/again", awspreset.Standard2026.Policy(""), succeeds, "a preset waits as the AWS SDKs do since November 2026"},
		{"/table", awspreset.BotocoreLegacy.Policy(""), succeeds, "this one waits as boto3 did before, up to a second, then two"},
		{"/object", java, succeeds, "the SDK for Java v1 ignored what the server asks"},
	}
}

// run serves the scripts on listener and makes all calls. The test connects client and
// server in memory and fixes the random numbers.
func run(w io.Writer, listener net.Listener, dial dialer, random func() float64) error {
	server := startServer(listener)
	defer server.close()

	client := newClient(dial)
	for _, sc := range scenarios() {
		sc.policy.Rand = random
		fmt.Fprintf(w, "GET %s, policy %v: %s\n", sc.path, retryconfig.Policy{Policy: sc.policy}, sc.notice)
		if err := sc.call(w, client, "http://"+listener.Addr().String()); err != nil {
			return fmt.Errorf("GET %s: %w", sc.path, err)
		}
	}
	fmt.Fprintf(w, "The server saw %d requests.\n", server.requests())
	return nil
}

// call runs the scenario and returns an error if the outcome is unexpected.
func (sc scenario) call(w io.Writer, client *http.Client, url string) error {
	timeline := newTimeline(w)
	text, err := retry.DoValue(context.Background(), timeline.watch(sc.policy), func(ctx context.Context) (string, error) {
		return get(ctx, client, url+sc.path)
	})
	var gaveUp *retry.Error
	ended := succeeds
	switch {
	case errors.As(err, &gaveUp):
		ended = givesUp
	case err != nil:
		ended = stops
	}
	if err != nil {
		fmt.Fprintf(w, "  failed after %v: %v\n\n", timeline.elapsed(), err)
	} else {
		fmt.Fprintf(w, "  succeeded after %v: %q\n\n", timeline.elapsed(), text)
	}
	if ended == sc.ends {
		return nil
	}
	unexpected := fmt.Errorf("the call %s, want: %s", ended, sc.ends)
	if err != nil {
		unexpected = fmt.Errorf("%w: %w", unexpected, err)
	}
	return unexpected
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// newClient returns a client that makes a connection for each request. On reused
// connections, net/http silently retries a lost GET, and the timeline would not show it.
func newClient(dial dialer) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// get makes one attempt; it contains no retry logic.
func get(ctx context.Context, client *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", retry.Permanent(err)
	}
	resp, err := client.Do(req)
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

func outcome(a retry.Attempt) string {
	var status *retryhttp.StatusError
	var network *net.OpError
	switch {
	case a.Err == nil:
		return "200 OK"
	case errors.As(a.Err, &status) && a.Hint > 0:
		return fmt.Sprintf("%v, asks for %v", status, a.Hint)
	case errors.As(a.Err, &status):
		return status.Error()
	case errors.Is(a.Err, context.DeadlineExceeded):
		return "no response in time"
	case errors.As(a.Err, &network), errors.Is(a.Err, io.EOF):
		return "connection lost"
	}
	return a.Err.Error()
}
