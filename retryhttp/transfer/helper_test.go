package transfer_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// A store is a server of one upload, in all protocols. Each request may break off in one of several ways.
type store struct {
	*httptest.Server
	size  int
	fault func(n int) string // "", "before", "within", "after", "busy", "interrupted", "stall"
	lose  func(n int) bool   // all bytes, before a request; nil: never

	mu       sync.Mutex
	got      []byte
	next     chan struct{} // closed by the next request
	requests int
	finished int // times that the upload was completed
	refused  int // parts that began at a wrong offset
	parts    int
}

func newStore(t testing.TB, http2 bool, size int, fault func(n int) string) *store {
	s := &store{size: size, fault: fault}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = http2
	if http2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *store) client() *http.Client {
	return &http.Client{Transport: &retryhttp.Transport{
		Base: s.Server.Client().Transport, Policy: retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 30},
		StallTimeout: 100 * time.Millisecond, FirstByteTimeout: time.Second,
	}}
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
	if s.lose != nil && s.lose(s.requests) {
		s.got = nil
	}
	fault := s.fault(s.requests)
	switch fault {
	case "before":
		panic(http.ErrAbortHandler)
	case "busy":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	offset, isPart := s.offset(r)
	if isPart && fault == "interrupted" { // as tusd says it
		http.Error(w, "ERR_UPLOAD_INTERRUPTED: upload has been interrupted by another request for this upload resource", http.StatusBadRequest)
		return
	}
	if isPart {
		s.parts++
		if offset != len(s.got) {
			s.refused++
			s.say(w, r, http.StatusConflict)
			return
		}
		s.take(r, fault)
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/google"):
		if len(s.got) < s.size {
			s.say(w, r, http.StatusPermanentRedirect)
			break
		}
		s.finish()
		w.WriteHeader(http.StatusOK)
		fmt.Fprint(w, "the object")
	case strings.HasPrefix(r.URL.Path, "/registry") && r.Method == http.MethodPut:
		s.finish()
		w.WriteHeader(http.StatusCreated)
	case strings.HasPrefix(r.URL.Path, "/registry") && isPart:
		s.say(w, r, http.StatusAccepted)
	default:
		if len(s.got) == s.size && (!isPart || r.Header.Get("Upload-Complete") != "?0") {
			s.finish()
			w.Header().Set("Upload-Complete", "?1")
		}
		s.say(w, r, http.StatusNoContent)
	}
	if fault == "after" {
		panic(http.ErrAbortHandler)
	}
}

func (s *store) finish() { s.finished++ }

func (s *store) offset(r *http.Request) (int, bool) {
	if o := r.Header.Get("Upload-Offset"); o != "" {
		n, _ := strconv.Atoi(o)
		return n, true
	}
	from, _, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Content-Range"), "bytes "), "-")
	n, err := strconv.Atoi(from)
	return n, ok && err == nil
}

// take stores the body of a part, or some of it.
func (s *store) take(r *http.Request, fault string) {
	most := int64(s.size)
	if fault == "within" || fault == "stall" {
		most = rand.Int64N(max(1, r.ContentLength))
	}
	part, _ := io.ReadAll(io.LimitReader(r.Body, most))
	s.got = append(s.got, part...)
	switch fault {
	case "within":
		panic(http.ErrAbortHandler)
	case "stall": // until the next request
		next := make(chan struct{})
		s.next = next
		s.mu.Unlock()
		<-next
		s.mu.Lock()
		panic(http.ErrAbortHandler)
	}
}

// say returns the offset as the protocol says it.
func (s *store) say(w http.ResponseWriter, r *http.Request, status int) {
	n := len(s.got)
	switch {
	case strings.HasPrefix(r.URL.Path, "/google"):
		if n > 0 {
			w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", n-1))
		}
	case strings.HasPrefix(r.URL.Path, "/registry"):
		w.Header().Set("Location", fmt.Sprintf("/registry/%d", s.requests))
		w.Header().Set("Range", fmt.Sprintf("0-%d", max(0, n-1)))
	default:
		w.Header().Set("Upload-Offset", strconv.Itoa(n))
		if w.Header().Get("Upload-Complete") == "" {
			w.Header().Set("Upload-Complete", "?0")
		}
	}
	w.WriteHeader(status)
}

func content(n int) []byte {
	return bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxyz!"), n/37+1)[:n]
}
