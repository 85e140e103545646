package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// timeline is an HTTP client that prints one line per request. Each attempt of the
// service client is one request.
type timeline struct {
	w      io.Writer
	client aws.HTTPClient
	start  time.Time
	ended  time.Time // end of the previous attempt
	number int
}

func newTimeline(w io.Writer, client aws.HTTPClient) *timeline {
	fmt.Fprintf(w, "  %-7s  %6s  %6s  %s\n", "attempt", "waited", "at", "outcome")
	now := time.Now()
	return &timeline{w: w, client: client, start: now, ended: now}
}

// Do makes the request and prints its line.
func (t *timeline) Do(req *http.Request) (*http.Response, error) {
	t.number++
	waited, at := time.Since(t.ended).Round(time.Millisecond), t.elapsed()
	resp, err := t.client.Do(req)
	t.ended = time.Now()
	fmt.Fprintf(t.w, "  %-7d  %6v  %6v  %s\n", t.number, waited, at, outcome(resp, err))
	return resp, err
}

func (t *timeline) elapsed() time.Duration { return time.Since(t.start).Round(time.Millisecond) }

func outcome(resp *http.Response, err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "no response in time"
	case err != nil:
		return "connection lost"
	}
	text := resp.Status
	if code := resp.Header.Get("X-Amzn-Errortype"); code != "" {
		text = fmt.Sprint(resp.StatusCode, " ", code)
	}
	if wait := resp.Header.Get("X-Amz-Retry-After"); wait != "" {
		text += ", asks for " + wait + "ms"
	}
	return text
}
