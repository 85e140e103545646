package retryhttp

import (
	"cmp"
	"context"

	"net/http"
	"net/url"

	"github.com/gobackoff/retry/internal/errfacts"
)

// Info describes a request to the hooks and the Classifier of a [Transport]'s Policy.
type Info struct {
	// Method is the request's method, never empty.
	Method string
	// URL contains the scheme, host and path. User, query and fragment are omitted
	// because they may contain secrets; a secret in the path is not removed.
	URL string
	// Attempt is the attempt's number, 1 for the first; 0 before the first.
	Attempt int
	// Status is the status of the attempt's response; 0 if there is none (yet).
	Status int
	// Resends is the number of times that the request was sent in addition to once per
	// attempt: by the Transport because it certainly was not processed, or because the server
	// refused what Sign had added, or by net/http.
	Resends int
	// Copies is the number of copies sent by the Transport's Hedge. They are neither
	// attempts nor resends.
	Copies int
}

type infoKey struct{}

// Value lets hooks find the call in their context.
func (c *call) Value(key any) any {
	if key == (infoKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// InfoFrom returns the Info of the request to which ctx belongs, where ctx is the
// context passed to the Policy's Hooks. Attempt and Status are those of the current or
// latest attempt. ok is false if ctx does not belong to a Transport's call.
func InfoFrom(ctx context.Context) (info Info, ok bool) {
	if c, ok := ctx.Value(infoKey{}).(*call); ok {
		return c.info(), true
	}
	return Info{}, false
}

// InfoOf returns the Info of the attempt that failed with err, an error passed to the
// Policy's hooks or returned by RoundTrip. ok is false for the error of Base itself, which a
// Classifier receives, and RoundTrip returns if the Policy allows one attempt.
func InfoOf(err error) (info Info, ok bool) {
	if e, ok := errfacts.As[*attemptError](err); ok {
		return e.info, true
	}
	if e, ok := errfacts.As[*StatusError](err); ok && e.Response.Request != nil {
		req := e.Response.Request
		info := infoAbout(req)
		info.Attempt, info.Status = AttemptNumber(req.Context()), e.Response.StatusCode
		return info, true
	}
	return Info{}, false
}

func (c *call) info() Info {
	info := infoAbout(c.request)
	info.Attempt, info.Status = int(c.number.Load()), int(c.status.Load())
	info.Resends, info.Copies = int(c.resends.Load()+c.refusals.Load()), int(c.copies.Load())
	return info
}

func infoAbout(req *http.Request) Info {
	info := Info{Method: cmp.Or(req.Method, http.MethodGet)}
	if u := req.URL; u != nil {
		info.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	}
	return info
}

// attemptError adds an Info to the error of an attempt without a response.
type attemptError struct {
	err  error
	info Info
}

func (e *attemptError) Error() string { return e.err.Error() }
func (e *attemptError) Unwrap() error { return e.err }
