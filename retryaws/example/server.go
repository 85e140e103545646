package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
)

// scripts are the responses for each operation, in order. The last one repeats.
var scripts = map[string][]http.HandlerFunc{
	"PutItem":    {throttle(""), fail(503, "ServiceUnavailable"), reset, succeed},
	"GetItem":    {throttle("400"), hang, succeed},
	"DeleteItem": {fail(500, "InternalServerError"), reset, fail(400, "ConditionalCheckFailedException")},
}

func succeed(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }

// fail responds with a DynamoDB error.
func fail(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", code)
		w.WriteHeader(status)
	}
}

// throttle responds with a throttling error, and adds a hint if the argument is not
// empty.
func throttle(milliseconds string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if milliseconds != "" {
			w.Header().Set("X-Amz-Retry-After", milliseconds)
		}
		fail(400, "ThrottlingException")(w, r)
	}
}

// reset closes the connection without a response; over TCP, it sends a reset.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
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
	ended chan struct{}
}

func startServer(listener net.Listener) *server {
	next := map[string]*atomic.Int64{}
	for operation := range scripts {
		next[operation] = new(atomic.Int64)
	}
	s := &server{ended: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise a disconnecting client goes unnoticed
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		steps, known := scripts[operation]
		if !known {
			fail(400, "UnknownOperationException")(w, r)
			return
		}
		steps[min(next[operation].Add(1), int64(len(steps)))-1](w, r)
	})}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(listener) // returns http.ErrServerClosed
	}()
	return s
}

func (s *server) close() {
	_ = s.http.Close()
	<-s.ended
}
