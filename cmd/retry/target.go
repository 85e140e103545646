package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhttp"
)

// A target is something to wait for that needs no command.
type target struct {
	scheme string // one of schemes
	name   string // address, URL or path
}

var schemes = []string{"tcp", "unix", "http", "https", "file"}

func isTarget(text string) bool {
	scheme, rest, ok := strings.Cut(text, ":")
	return ok && slices.Contains(schemes, scheme) && (scheme[0] != 'h' || strings.HasPrefix(rest, "//"))
}

// withoutSecrets returns an argument that cannot be used, without what may be a password if it is like
// a URL.
func withoutSecrets(argument string) string {
	scheme, _, isURL := strings.Cut(argument, "://")
	if !isURL {
		return argument
	}
	return scheme + "://…"
}

func parseTargets(args []string) ([]target, error) {
	var targets []target
	for _, text := range args {
		if !isTarget(text) {
			return nil, fmt.Errorf("%q is not a target such as tcp:HOST:PORT, https://… or file:PATH; to run a command after the wait: retry TARGET -- COMMAND", withoutSecrets(text))
		}
		scheme, name, _ := strings.Cut(text, ":")
		switch scheme {
		case "tcp":
			if _, port, err := net.SplitHostPort(name); err != nil || port == "" {
				return nil, fmt.Errorf("%q must be tcp:HOST:PORT", text)
			}
		case "file", "unix":
			if name == "" {
				return nil, fmt.Errorf("%q must be %s:PATH", text, scheme)
			}
		default:
			name = text
			if u, err := url.Parse(name); err != nil || u.Host == "" {
				return nil, fmt.Errorf("%q is not a URL with a host", withoutSecrets(text))
			}
		}
		targets = append(targets, target{scheme, name})
	}
	return targets, nil
}

// check returns nil if the target is ready.
func (t target) check(ctx context.Context, accepts func(status int) bool) error {
	switch t.scheme {
	case "tcp", "unix":
		conn, err := new(net.Dialer).DialContext(ctx, t.scheme, t.name)
		if err == nil {
			conn.Close()
		}
		return err
	case "file":
		_, err := os.Stat(t.name)
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.name, nil)
	if err != nil {
		return err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if !accepts(response.StatusCode) {
		public := *request.URL
		public.User, public.RawQuery, public.Fragment = nil, "", ""
		return &notReady{fmt.Sprintf("%s: status %s", public.String(), response.Status), retryhttp.RetryAfter(response, time.Now())}
	}
	return nil
}

// notReady is a response with another status than the expected one.
type notReady struct {
	text string
	hint time.Duration // of the server; 0: none
}

func (e *notReady) Error() string { return e.text }

// RetryAfter returns the hint of the server of a target, which the policy reads.
func (o *outcome) RetryAfter() time.Duration {
	if e, ok := errors.AsType[*notReady](o.failure); ok {
		return e.hint
	}
	return 0
}

// forTargets returns the policy for waiting until targets are ready: a hint may delay the
// next attempt by five seconds, so that a server which asks for minutes is found ready
// soon after it is, and no budget counts, because a single wait has no other calls.
func forTargets(p retry.Policy) retry.Policy {
	if p.Hint == nil {
		p.Hint = awspreset.HintWindow{}
	}
	p.Budget = nil
	return p
}

// advice returns what to write instead of a command that does not exist, or "".
func advice(name string) string {
	scheme, _, isURL := strings.Cut(name, "://")
	_, port, err := net.SplitHostPort(name)
	number, notNumber := strconv.Atoi(port)
	attempts, isNoNumber := strconv.Atoi(name)
	switch {
	case isNoNumber == nil:
		return fmt.Sprintf("; for %d runs: retry --attempts %[1]d -- COMMAND", attempts)
	case isAssignment(name):
		variable, _, _ := strings.Cut(name, "=")
		return fmt.Sprintf("; for a variable of the command: %s=VALUE retry -- COMMAND", variable)
	case strings.ContainsAny(name, " \t\n|&;<>"):
		return "; for a line of a shell: retry -- bash -o pipefail -ec 'LINE'"
	case strings.HasPrefix(name, "udp:"):
		return "; nothing tells whether a UDP port is open; retry a command that sends a request and waits for the response"
	case isURL:
		return fmt.Sprintf("; %s cannot be waited for: use tcp:HOST:PORT", scheme)
	case err == nil && notNumber == nil && number > 0:
		return "; to wait for it: retry tcp:" + name
	case !strings.ContainsAny(name, `/\:`):
		return fmt.Sprintf("; if it is a function of bash: export -f %[1]s; retry -- bash -c '%[1]s ARGUMENT…'", name)
	}
	return ""
}

// isAssignment reports whether a word sets a variable, as in FOO=1 make.
func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	letters := strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz_0123456789") == ""
	return found && name != "" && letters && strings.Trim(name[:1], "0123456789") != ""
}

// probe checks the targets in order, up to the first that is not ready.
func (s *session) probe(ctx context.Context, o *outcome) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	var failure error
	go func() {
		defer close(over)
		for _, t := range s.targets {
			if failure = t.check(ctx, s.match.accepts); failure != nil {
				return
			}
		}
	}()
	err := s.await(ctx, over, nil, nil)
	late := ctx.Err() != nil
	cancel()
	<-over
	o.exit = 1
	switch {
	case failure == nil && s.ended == 0:
		o.exit = 0
		s.count(o, true)
	case late:
		o.limit = s.limit()
	default:
		o.failure = or(err, failure)
	}
}
