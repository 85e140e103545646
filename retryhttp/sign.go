package retryhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

// Refused reports whether a response refuses what [Transport].Sign added to its request, so that
// the server has not processed the request. peek waits for the first n bytes of the body, or all if
// there are fewer, and returns them; they remain in the body. If reading the body fails, peek
// returns the error. A Refused must not change the response or the bytes.
type Refused func(resp *http.Response, peek func(n int) ([]byte, error)) bool

// RefusedBy returns a Refused that is true for responses with one of these statuses.
func RefusedBy(statuses ...int) Refused {
	refusing := make(map[int]bool, len(statuses))
	for _, status := range statuses {
		refusing[status] = true
	}
	return func(resp *http.Response, _ func(int) ([]byte, error)) bool { return refusing[resp.StatusCode] }
}

// of reports whether a response refuses a value of a Lease or a Pool. A nil Refused is that of 401.
func (f Refused) of(resp *http.Response, peek func(n int) ([]byte, error)) bool {
	if f == nil {
		return resp.StatusCode == http.StatusUnauthorized
	}
	return f(resp, peek)
}

// invalidSigning returns the error of a part of signing that is not set up right.
func invalidSigning(part, reason string) error {
	return retry.Permanent(fmt.Errorf("retryhttp: %w %s: %s", retry.ErrInvalid, part, reason))
}

// InHeader returns a function that sets a header to a prefix and a value, for the field Set of a
// [Lease] or a [Pool].
func InHeader(name, prefix string) func(*http.Request, string) error {
	return func(req *http.Request, value string) error {
		req.Header.Set(name, prefix+value)
		return nil
	}
}

// maxRefusals is the number of times that a call sends its request again because the server
// refused what Sign had added.
const maxRefusals = 8

// signing is the context with which Sign is called in one attempt, or for one copy of a request. In
// it, the Transport, a Lease and a Pool tell each other what they know.
type signing struct {
	context.Context
	refused  Refused // as Sign returned it; nil: nothing refuses
	refusals int     // responses in this attempt that refused what Sign had added
	scope    uint64  // is what Sign added, as a credential of a Limiter; 0: the headers are

	pooled bool           // Sign has chosen one of several values, so no Limiter of a credential is asked
	hint   *time.Duration // of a response that throttled one of them, until another may be used; nil: its own
	turned map[any][]int  // the values of a Pool that were refused, and not throttled

	secondary time.Duration // of the response: see secondaryWait
}

type signingKey struct{}

// Value implements context.Context.
func (s *signing) Value(key any) any {
	if key == (signingKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// signingOf returns the signing to which the context of a request belongs. For a request that no
// Transport signs, that is a new one.
func signingOf(ctx context.Context) *signing {
	s, ok := ctx.Value(signingKey{}).(*signing)
	if !ok {
		return &signing{Context: ctx}
	}
	return s
}

// sign calls Sign for a request, whose Header it may change. Afterwards, the request has no body.
func (s *signing) sign(t *Transport, req *http.Request, getBody func() (io.ReadCloser, error)) error {
	asked := req.URL
	own := *asked
	signed := req.WithContext(s)
	signed.URL, signed.Body, signed.GetBody = &own, nil, getBody
	s.refused, s.scope, s.pooled, s.hint, s.secondary = nil, 0, false, nil, 0
	refused, err := t.Sign(signed)
	if err != nil {
		return err
	}
	if signed.URL == nil {
		return invalidSigning("Transport.Sign", "it removed the URL of the request")
	}
	if signed.Host == asked.Host {
		signed.Host = signed.URL.Host // of another host, perhaps
	}
	s.refused = refused
	*req = *signed.WithContext(s.Context)
	req.Body, req.GetBody = nil, nil
	return nil
}

// refuses asks whether a response refuses what Sign added.
func (s *signing) refuses(resp *http.Response) bool {
	if s == nil || s.refused == nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return false
	}
	answered := false
	defer func() {
		if !answered { // Refused panicked
			_ = resp.Body.Close()
		}
	}()
	refused := s.refused(resp, peekInto(resp))
	answered = true
	return refused
}

// sign lets Sign change the request that is sent. Its body is loaded later.
func (c *call) sign(req *http.Request, s *sending) error {
	if s.signing == nil {
		return nil
	}
	before := req.URL
	err := s.signing.sign(c.transport, req, c.copyOfBody)
	if c.reread {
		c.recording.end()
	}
	req.GetBody = c.getBody
	if err == nil && authorityOf(before) != authorityOf(req.URL) {
		settings := c.wire
		settings.Host = &c.transport.hosts.host(req.URL).Host
		s.Settings = &settings
	}
	return err
}

// copyOfBody is the GetBody of a request that is signed.
func (c *call) copyOfBody() (io.ReadCloser, error) {
	if c.recording == nil {
		return copyOfBody(c.body, c.getBody)
	}
	c.reread = true
	r, err := c.recording.replay()
	if err != nil {
		return nil, retry.Permanent(err)
	}
	return wholeReplay{r}, nil
}

func copyOfBody(body io.ReadCloser, getBody func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	switch {
	case body == nil || body == http.NoBody:
		return http.NoBody, nil
	case getBody == nil:
		return nil, retry.Permanent(errors.New("retryhttp: Sign cannot read a body that can be sent only once: set the request's GetBody, or Transport.MaxBuffer"))
	}
	return getBody()
}

// wholeReplay is a replay that fails once its recording has lost bytes, because the request could
// not be sent afterwards.
type wholeReplay struct{ io.ReadCloser }

func (b wholeReplay) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	complete, _ := b.ReadCloser.(*replay).of.state()
	if !complete {
		return 0, retry.Permanent(errTooLong)
	}
	return n, err
}

// isRefused reports whether the server refused what Sign added, and the request is to be signed and
// sent again. The response is then gone.
func (c *call) isRefused(ctx context.Context, s *sending, d *delivery) bool {
	if d.response == nil || s.signing == nil {
		return false
	}
	s.signing.secondary = d.secondary
	if !s.signing.refuses(d.response) {
		return false
	}
	if !c.resendable() || ctx.Err() != nil {
		return false
	}
	if c.refusals.Add(1) > maxRefusals {
		c.refusals.Add(-1)
		return false
	}
	s.signing.refusals++
	drain(d.response.Body, d.response.ContentLength)
	return true
}

// passOn sends a request that is not retried. It is signed once.
func (t *Transport) passOn(req *http.Request) (*http.Response, error) {
	if !t.signs(req) {
		return t.top().RoundTrip(req)
	}
	s := &signing{Context: req.Context()}
	signed := req.WithContext(req.Context())
	signed.Header = ownHeader(req.Header)
	err := s.sign(t, signed, func() (io.ReadCloser, error) { return copyOfBody(req.Body, req.GetBody) })
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	signed.Body, signed.GetBody = req.Body, req.GetBody
	resp, err := t.top().RoundTrip(signed)
	if err != nil {
		return resp, err
	}
	s.refuses(resp) // a Lease learns of it
	if resp.Request == signed {
		resp.Request = req
	}
	return resp, nil
}

// signs reports whether Sign is called for a request.
func (t *Transport) signs(req *http.Request) bool {
	return t.Sign != nil && req.URL != nil && !hasLeft(req)
}

// hasLeft reports whether a request follows a redirect to another host, now or before, which must
// not be given credentials or have a say in what is signed.
func hasLeft(req *http.Request) bool {
	for req.Response != nil && req.Response.Request != nil {
		sent := req.Response.Request
		asked := sent // before Sign
		a := attemptBehind(req.Response)
		if a != nil {
			c, ok := a.Value(infoKey{}).(*call)
			if ok {
				asked = c.request
			}
		}
		if !sameHost(asked.URL, req.URL) && !sameHost(sent.URL, req.URL) {
			return true
		}
		req = asked
	}
	return false
}

// sameHost reports whether two URLs have the same host and port. A change from http to https, with
// their standard ports, is none.
func sameHost(before, now *url.URL) bool {
	if before == nil || now == nil {
		return false
	}
	from, to := authorityOf(before), authorityOf(now)
	if from == to {
		return strings.EqualFold(before.Scheme, now.Scheme) || strings.EqualFold(now.Scheme, "https")
	}
	return from == authority{to.name, "80"} && to.port == "443" && strings.EqualFold(now.Scheme, "https")
}

// ownHeader returns a copy of a header that is not nil.
func ownHeader(h http.Header) http.Header {
	if h == nil {
		return http.Header{}
	}
	return h.Clone()
}
