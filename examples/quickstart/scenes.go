//go:build !js

package main

import (
	"context"
	_ "embed"
	"io"
	"net/http"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/retryhttp"
)

//go:embed scenes.go
var source string

// A scene is a function of this file, whose source code the program shows before it runs.
type scene struct {
	name, title string
	run         func(ctx context.Context, s *stage) error
	ends        string // a part of the outcome
}

var scenes = []scene{
	{"serverAsks", "The default policy waits as long as the server asks.", serverAsks, "5 messages"},
	{"givesUp", "It makes three attempts. The error says why it gave up, and the last failure.", givesUp, "gave up after 3 attempts"},
	{"permanent", "A retry would not help, so there is none.", permanent, "404 Not Found"},
	{"lostResponse", "The response to a POST is lost. Was the order taken? retryhttp does not send it twice.", lostResponse, "not safe to repeat"},
	{"withKey", "With a key, the server recognizes the repetition, and the answer arrives.", withKey, "order 1 was taken"},
	{"storm", "A hundred calls to a server that is down: without a budget, it gets three requests a call.", storm, "300 requests"},
	{"budget", "With a budget that they share, it gets 35 retries in all.", budget, "135 requests"},
	{"gate", "The server's half: what a full server cannot answer in time it refuses at once, and says when to return.", gate, "429 Too Many Requests"},
}

func serverAsks(ctx context.Context, s *stage) error {
	text, err := retry.DoValue(ctx, s.shown(retry.Policy{}), func(ctx context.Context) (string, error) {
		return s.get(ctx, "/queue")
	})
	s.say(text)
	return err
}

func givesUp(ctx context.Context, s *stage) error {
	return retry.Do(ctx, s.shown(retry.Policy{}), func(ctx context.Context) error {
		_, err := s.get(ctx, "/down")
		return err
	})
}

func permanent(ctx context.Context, s *stage) error {
	return retry.Do(ctx, s.shown(retry.Policy{}), func(ctx context.Context) error {
		_, err := s.get(ctx, "/nothing")
		return err
	})
}

func lostResponse(ctx context.Context, s *stage) error {
	client := &http.Client{Transport: &retryhttp.Transport{Base: s.transport, Policy: s.shown(retry.Policy{})}}
	_, err := client.Post(s.url+"/order", "text/plain", strings.NewReader("a book"))
	return err
}

func withKey(ctx context.Context, s *stage) error {
	client := &http.Client{Transport: &retryhttp.Transport{Base: s.transport, Policy: s.shown(retry.Policy{})}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/keyed", strings.NewReader("a book"))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", "17")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	s.say(string(text))
	return err
}

func storm(ctx context.Context, s *stage) error {
	return s.hundred(ctx, retry.Policy{})
}

func budget(ctx context.Context, s *stage) error {
	return s.hundred(ctx, retry.Policy{Budget: &retry.TokenBudget{}})
}

func gate(ctx context.Context, s *stage) error {
	var gate admit.Gate
	handler := gate.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for range 1000 { // requests that do not end
		if _, err := gate.Enter(admit.Caller{}); err != nil {
			break
		}
	}
	return s.ask(handler)
}

// code returns the source code of a scene.
func code(name string) string {
	_, after, _ := strings.Cut(source, "\nfunc "+name+"(ctx context.Context, s *stage) error {\n")
	body, _, _ := strings.Cut(after, "\n}\n")
	return body
}
