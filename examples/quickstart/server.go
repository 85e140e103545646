//go:build !js

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// scripts are the responses for each path, in order. The last one repeats.
var scripts = map[string][]http.HandlerFunc{
	"/queue":   {throttle(1), respond("5 messages")},
	"/down":    {status(503)},
	"/nothing": {status(404)},
	"/order":   {reset},
	"/keyed":   {reset, respond("order 1 was taken, and this is its first answer again")},
}

func respond(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, http.StatusText(code), code) }
}

func throttle(seconds int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	}
}

// reset reads the request and closes the connection without a response; over TCP, it
// sends a reset.
func reset(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes without a reset
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

type server struct {
	http  *http.Server
	count atomic.Int64
	ended chan struct{}
}

func startServer(listener net.Listener) *server {
	s := &server{ended: make(chan struct{})}
	mux := http.NewServeMux()
	for path, steps := range scripts {
		var next atomic.Int64
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			s.count.Add(1)
			steps[min(next.Add(1), int64(len(steps)))-1](w, r)
		})
	}
	s.http = &http.Server{Handler: mux}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(listener) // returns http.ErrServerClosed
	}()
	return s
}

func (s *server) requests() int64 { return s.count.Load() }

func (s *server) close() {
	_ = s.http.Close()
	<-s.ended
}
