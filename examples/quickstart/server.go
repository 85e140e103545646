package main

import (
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
)

// scripts are the responses for each path, in order. The last one repeats.
var scripts = map[string][]http.HandlerFunc{
	"/report":  {status(503), status(429), respond("42 rows")},
	"/table":   {reset, status(503), respond("3 columns")},
	"/object":  {hang, throttle(1), respond("1 byte")},
	"/queue":   {throttle(1), respond("5 messages")},
	"/down":    {status(503)},
	"/nothing": {status(404)},
	"/again":   {reset, status(503), respond("7 objects")},
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

// reset closes the connection without a response; over TCP, it sends a reset.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes without a reset
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

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
