package retryhttp

import (
	"fmt"
	"net/http"

	"github.com/gobackoff/retry"
)

// top returns the RoundTripper to which requests are given.
func (t *Transport) top() http.RoundTripper {
	if t.Wrap == nil {
		return t.base()
	}
	t.wrapping.Do(func() {
		t.wrapped = t.Wrap(lower{t})
		if t.wrapped == nil {
			t.wrapped = noWrapper{}
		}
	})
	return t.wrapped
}

// noWrapper is used if Wrap returned nil.
type noWrapper struct{}

func (noWrapper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return nil, retry.Permanent(fmt.Errorf("%w Transport.Wrap: it returned nil", retry.ErrInvalid))
}

// lower is the RoundTripper around which Transport.Wrap puts another one. It sends a request in
// an exchange of its own, below that of the attempt to which the request's context belongs,
// and notes there how it ended.
type lower struct{ transport *Transport }

func (l lower) RoundTrip(req *http.Request) (*http.Response, error) {
	base := l.transport.base()
	direct, _ := base.(*http.Transport)
	attempt, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if direct == nil || attempt == nil || attempt.transport != l.transport || !attempt.begin() {
		return base.RoundTrip(req)
	}
	s := *attempt.settings
	s.direct, s.host = direct, l.transport.hosts.host(req.URL)
	x := &exchange{Context: req.Context(), settings: &s, number: attempt.number, single: attempt.single}
	x.request = *req.WithContext(x)
	x.request.GetBody = nil // with GetBody, net/http could resend the request
	x.empty = req.Body == nil || req.Body == http.NoBody
	x.adapt(nil)
	o := x.roundTrip()
	attempt.ended(o)
	if o.response != nil && o.response.Request == &x.request {
		o.response.Request = req
	}
	return o.response, o.err
}

// CloseIdleConnections closes those of Base. Wrappers pass it on.
func (l lower) CloseIdleConnections() {
	if base, ok := l.transport.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// lowerings are what became of the requests that a wrapper passed on in one attempt: usually
// one, two for digest authentication, several for a wrapper that retries.
type lowerings struct {
	begun, done int
	doubt       bool // one of them was answered, or may have been executed
	end         ending
	again       bool // of the last
}

// ending returns how an attempt ended whose wrapper returned an error.
func (l lowerings) ending(mayRepeat bool) (end ending, again bool) {
	switch {
	case l.done < l.begun: // the wrapper has not waited for it
		return unknown, false
	case l.doubt:
		return unknown, l.again && mayRepeat
	}
	return l.end, l.again
}

// begin notes that the wrapper passes a request on. It reports false if the attempt is over.
func (x *exchange) begin() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state == over {
		return false
	}
	x.lower.begun++
	return true
}

// ended notes what became of a request that the wrapper passed on.
func (x *exchange) ended(o outcome) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state == over {
		return
	}
	x.writes += 1 + o.resends
	x.lower.done++
	x.lower.end, x.lower.again = o.end, o.again
	x.lower.doubt = x.lower.doubt || o.end == answered || o.end == unknown
}
