package main

// This file implements the server that the SDKs call.

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

const (
	scriptPath = "/__script"
	slowness   = 5 * time.Second // of a slow response
)

// A server responds to SDKs from a script, one call at a time. Its second address, for
// TLS, has a certificate that no client trusts.
type server struct {
	*httptest.Server
	untrusted *httptest.Server

	mu       sync.Mutex
	script   call
	requests int    // since the script was set
	trouble  string // the last protocol violation
}

func newServer() *server {
	s := &server{}
	s.Server = httptest.NewServer(s)
	s.untrusted = httptest.NewUnstartedServer(http.NotFoundHandler())
	s.untrusted.Listener = countingListener{s.untrusted.Listener, s}
	s.untrusted.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail
	s.untrusted.StartTLS()
	return s
}

func (s *server) Close() {
	s.untrusted.Close()
	s.Server.Close()
}

func (s *server) endpoint(c testCase) string {
	if c.TLS {
		return s.untrusted.URL
	}
	return s.URL
}

// countingListener counts each connection as a request, because no request follows the
// failed handshake.
type countingListener struct {
	net.Listener
	server *server
}

func (l countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.server.next()
	}
	return conn, err
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == scriptPath {
		s.serveScript(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	n, next := s.next()
	p := wireFormatOf(r, body)
	if p == nil {
		s.complain(fmt.Sprintf("%s %s has no known format", r.Method, r.URL))
		http.Error(w, "unknown format", http.StatusNotImplemented)
		return
	}
	if next.Fault != "" {
		p.fail(w, r, next.Fault)
		return
	}
	p.write(w, next, n)
}

// serveScript sets the next call's script (PUT), or returns the number of requests in
// the last call (GET).
func (s *server) serveScript(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPut:
		var script call
		if err := json.NewDecoder(r.Body).Decode(&script); err != nil || len(script.Responses) == 0 {
			http.Error(w, fmt.Sprintf("no script: %v", err), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.script, s.requests, s.trouble = script, 0, ""
	case http.MethodGet:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.trouble != "" {
			http.Error(w, s.trouble, http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, `{"requests": %d}`, s.requests)
	default:
		http.Error(w, "PUT or GET", http.StatusMethodNotAllowed)
	}
}

func (s *server) next() (int, response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if len(s.script.Responses) == 0 {
		s.trouble = "a request arrived before the first script"
		return s.requests, response{Status: http.StatusInternalServerError}
	}
	return s.requests, s.script.response(s.requests)
}

func (c call) response(number int) response {
	return c.Responses[min(number, len(c.Responses))-1]
}

func (s *server) complain(trouble string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = trouble
}

func (p *wireFormat) fail(w http.ResponseWriter, r *http.Request, fault string) {
	if fault == "slow" {
		time.Sleep(slowness)
		p.write(w, response{Status: http.StatusOK}, 1)
		return
	}
	if fault == "hang" {
		<-r.Context().Done()
		return
	}
	if fault == "truncate" {
		w.Header().Set("Content-Type", p.contentType)
		w.Header().Set("Content-Length", strconv.Itoa(len(p.success)))
		io.WriteString(w, p.success[:len(p.success)/2])
		return
	}
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err) // net/http allows one Hijack per HTTP/1 request
	}
	switch fault {
	case "reset":
		conn.(*net.TCPConn).SetLinger(0)
	case "garbage":
		io.WriteString(conn, "garbage\r\n\r\n")
	}
	conn.Close()
}
