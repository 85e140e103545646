//go:build !js

package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/gobackoff/retry/admit"
)

// newHandler returns a server with four workers that take 10 ms for a request: it serves
// 400 requests a second. From 5 to 7 s after it was created, it stalls.
func newHandler(gated bool) http.Handler {
	start := time.Now()
	workers := make(chan struct{}, 4)
	work := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		workers <- struct{}{}
		defer func() { <-workers }()
		if t := time.Since(start); t > 5*time.Second && t < 7*time.Second {
			time.Sleep(7*time.Second - t)
		}
		time.Sleep(10 * time.Millisecond)
		fmt.Fprintln(w, "done")
	})
	if !gated {
		return work
	}
	var gate admit.Gate // all that a server needs
	return gate.Handler(work)
}
