package wire

import (
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
)

// Lower is the RoundTripper that a wrapper gets as its base. It sends a request in an Exchange of
// its own, below that of the attempt to which the request's context belongs, and notes
// there what became of it.
type Lower struct {
	Base func() http.RoundTripper
	Host func(*url.URL) *Host

	strays atomic.Int64 // requests that were passed on without a known attempt
}

// RoundTrip implements [http.RoundTripper].
func (l *Lower) RoundTrip(req *http.Request) (*http.Response, error) {
	base := l.Base()
	direct, _ := base.(*http.Transport)
	attempt, _ := req.Context().Value(exchangeKey{}).(*Exchange)
	if attempt != nil && attempt.Lower == l && attempt.isVain() {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, errors.New("retryhttp: the attempt has failed before its request was sent")
	}
	if direct == nil || attempt == nil || attempt.Lower != l || !attempt.begin() {
		l.strays.Add(1)
		return base.RoundTrip(req)
	}
	s := *attempt.Settings
	s.Base, s.Direct, s.Lower, s.Host = base, direct, nil, l.Host(req.URL)
	x := &Exchange{Context: req.Context(), Settings: &s, Alone: attempt.Alone, Since: attempt.Since}
	x.Request = *req.WithContext(x)
	x.Request.GetBody = nil // with GetBody, net/http could resend the request
	resp, fate, err := Send(x)
	attempt.ended(x, fate)
	if resp != nil && resp.Request == &x.Request {
		resp.Request = req
	}
	return resp, err
}

// CloseIdleConnections closes those of Base. Wrappers pass it on.
func (l *Lower) CloseIdleConnections() {
	base, ok := l.Base().(interface{ CloseIdleConnections() })
	if ok {
		base.CloseIdleConnections()
	}
}

// lowerings are what became of the requests that a wrapper passed on in one attempt: usually
// one, two for digest authentication, several for a wrapper that retries.
type lowerings struct {
	begun, done int32
	doubt       bool // one of them was answered, or may have been executed
	last        Fate
	again       bool // of the last
}

// fate returns the fate of an attempt whose wrapper returned an error.
func (l lowerings) fate(mayRepeat bool) (fate Fate, again bool) {
	switch {
	case l.done < l.begun: // the wrapper has not waited for it
		return Unknown, false
	case l.doubt:
		return Unknown, l.again && mayRepeat
	}
	return l.last, l.again
}

// isVain reports whether the attempt ended with an error before the wrapper passed a request on. The
// request counts as unsent since then.
func (x *Exchange) isVain() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.vain
}

// begin notes that the wrapper passes a request on. It reports false if the attempt is over.
func (x *Exchange) begin() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state == over {
		return false
	}
	x.lower.begun++
	return true
}

// ended notes what became of a request that the wrapper passed on in the Exchange below.
func (x *Exchange) ended(below *Exchange, fate Fate) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state == over {
		return
	}
	x.writes += 1 + int32(below.Resends)
	x.lower.done++
	x.lower.last, x.lower.again = fate, below.Again
	x.lower.doubt = x.lower.doubt || fate == Answered || fate == Unknown
}
