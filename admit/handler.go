//go:build !js

// The lab runs the Gate in a browser, where net/http would add megabytes.

package admit

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Handler admits requests to Next through a Gate. Its fields must not be changed after
// first use.
//
// WebSocket handshakes and CONNECT requests bypass the Gate. Exclude other long-lived
// responses, such as event streams, with Skip.
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
	if longLived(r) || h.Skip != nil && h.Skip(r) {
		h.Next.ServeHTTP(w, r)
		return
	}
	caller := Caller{Patience: patience(r.Header, time.Now())}
	if h.Share != nil {
		caller.Share = h.Share(r)
	}
	ticket, err := h.Gate.Enter(caller)
	if err != nil {
		h.refuse(w, err)
		return
	}
	defer h.Gate.Leave(ticket)
	h.Next.ServeHTTP(w, r)
}

func (h *Handler) refuse(w http.ResponseWriter, err error) {
	after := time.Duration(err.(Refused))
	header := w.Header()
	header.Set("Retry-After", strconv.Itoa(max(1, int(math.Round(after.Seconds())))))
	header.Set("Retry-After-Ms", strconv.FormatInt(after.Milliseconds(), 10))
	http.Error(w, err.Error(), cmp.Or(h.Status, http.StatusTooManyRequests))
}

// longLived ignores other upgrades: clients that speak HTTP/2 offer h2c with any request.
func longLived(r *http.Request) bool {
	connection := strings.ToLower(strings.Join(r.Header["Connection"], ","))
	return r.Method == http.MethodConnect ||
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && strings.Contains(connection, "upgrade")
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
