//go:build !js

// The lab runs the Gate in a browser, where net/http would add megabytes.

package admit

import (
	"bufio"
	"cmp"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Handler admits requests to Next through a Gate. Its fields must not be changed after
// first use.
//
// A request that switches protocols, such as a WebSocket handshake or CONNECT, leaves the
// Gate when Next hijacks its connection.
type Handler struct {
	Gate *Gate        // decides about requests
	Next http.Handler // serves admitted requests

	// Status is the status of a refusal. 0 means 429, after which clients repeat any
	// request. Many repeat only idempotent requests after 503.
	Status int

	// Share returns the Share of a request's [Caller]. nil means 1 for all requests.
	Share func(*http.Request) float64

	// Skip reports whether a request, such as a health check, bypasses the Gate. nil
	// means none.
	Skip func(*http.Request) bool
}

// Handler returns a new [Handler].
//
// The Patience of a request's [Caller] is the shortest time that it announces in one of
// the headers Grpc-Timeout, X-Envoy-Expected-Rq-Timeout-Ms, X-Stainless-Timeout (seconds),
// and Amz-Sdk-Request (ttl; one in the past is ignored, because a clock may be wrong).
func (g *Gate) Handler(next http.Handler) *Handler { return &Handler{Gate: g, Next: next} }

// ServeHTTP implements [http.Handler]. A refusal has the headers Retry-After, in seconds,
// and Retry-After-Ms.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.Skip != nil && h.Skip(r) {
		h.Next.ServeHTTP(w, r)
		return
	}
	now := time.Now
	if h.Gate.Now != nil {
		now = h.Gate.Now
	}
	caller := Caller{Patience: patience(r.Header, now())}
	if h.Share != nil {
		caller.Share = h.Share(r)
	}
	ticket, err := h.Gate.Enter(caller)
	if err != nil {
		h.refuse(w, err)
		return
	}
	if r.Header["Upgrade"] == nil && r.Method != http.MethodConnect {
		defer h.Gate.Leave(ticket)
		h.Next.ServeHTTP(w, r)
		return
	}
	leave := sync.OnceFunc(func() { h.Gate.Leave(ticket) })
	defer leave()
	h.Next.ServeHTTP(switching{w, leave}, r)
}

// switching is the response to a request that asks for another protocol.
type switching struct {
	http.ResponseWriter
	leave func()
}

// Hijack implements [http.Hijacker].
func (s switching) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(s.ResponseWriter).Hijack()
	if err == nil {
		s.leave()
	}
	return conn, rw, err
}

// Flush implements [http.Flusher], for clients that offer a protocol with any request.
func (s switching) Flush() { http.NewResponseController(s.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (s switching) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (h *Handler) refuse(w http.ResponseWriter, err error) {
	after := time.Duration(err.(Refused))
	header := w.Header()
	header.Set("Retry-After", strconv.Itoa(max(1, int(math.Round(after.Seconds())))))
	header.Set("Retry-After-Ms", strconv.FormatInt(after.Milliseconds(), 10))
	http.Error(w, err.Error(), cmp.Or(h.Status, http.StatusTooManyRequests))
}

// patience returns the shortest time that the caller announces, or 0.
func patience(h http.Header, now time.Time) (shortest time.Duration) {
	grpc := h.Get("Grpc-Timeout")
	digits := strings.TrimRight(grpc, "HMSmun")
	_, ttl, _ := strings.Cut(h.Get("Amz-Sdk-Request"), "ttl=")
	ttl, _, _ = strings.Cut(ttl, ";")
	end, _ := time.Parse("20060102T150405Z", ttl)
	for _, d := range [...]time.Duration{
		number(digits, grpcUnits[grpc[len(digits):]]),
		number(h.Get("X-Envoy-Expected-Rq-Timeout-Ms"), time.Millisecond),
		number(h.Get("X-Stainless-Timeout"), time.Second),
		end.Sub(now),
	} {
		if d > 0 && (shortest == 0 || d < shortest) {
			shortest = d
		}
	}
	return shortest
}

var grpcUnits = map[string]time.Duration{
	"H": time.Hour, "M": time.Minute, "S": time.Second, "m": time.Millisecond, "u": time.Microsecond, "n": time.Nanosecond,
}

func number(text string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n*float64(unit) < math.MaxInt64) {
		return 0
	}
	return time.Duration(n * float64(unit))
}
