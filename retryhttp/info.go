package retryhttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"time"
)

// Info is what the hooks and the Classifier of a [Transport]'s Policy can know
// about the request that they deal with.
type Info struct {
	// Method is the method of the request, never empty.
	Method string
	// URL has the scheme, host and path. It lacks user, query and fragment,
	// where secrets stand; a path that holds one is up to the caller.
	URL string
	// Attempt is the number of the attempt, 1 for the first; 0 before it.
	Attempt int
	// Status is that of the attempt's response; 0: there is none, or not yet.
	Status int
}

type infoKey struct{}

// Value lets hooks find the call in the context that they get.
func (c *call) Value(key any) any {
	if key == (infoKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// InfoFrom returns what is known about the request whose call has the context, as
// OnAttempt, OnRetry and OnGiveUp of the Policy get it. Attempt and Status are
// those of the attempt that runs or has ended last. ok is false for a context
// that does not belong to a Transport's call.
func InfoFrom(ctx context.Context) (info Info, ok bool) {
	if c, ok := ctx.Value(infoKey{}).(*call); ok {
		return c.info(), true
	}
	return Info{}, false
}

// InfoOf returns what is known about the attempt that failed with err, as the
// Classifier of the Policy gets it and as it stands in what RoundTrip returns. ok
// is false for errors that are not of a Transport.
func InfoOf(err error) (info Info, ok bool) {
	if e, ok := errors.AsType[*attemptError](err); ok {
		return e.info, true
	}
	if e, ok := errors.AsType[*StatusError](err); ok && e.Response.Request != nil {
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
	return info
}

func infoAbout(req *http.Request) Info {
	info := Info{Method: req.Method}
	if info.Method == "" {
		info.Method = http.MethodGet
	}
	if u := req.URL; u != nil {
		info.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	}
	return info
}

// attemptError is the error of an attempt that brought no response. It reads as
// that error does.
type attemptError struct {
	err  error
	info Info
}

func (e *attemptError) Error() string { return e.err.Error() }
func (e *attemptError) Unwrap() error { return e.err }

// withinError is an error that was made of a response by a RoundTripper below, such
// as one that fetches a token, or by net/http of a proxy's.
type withinError struct {
	error
	status int
	after  time.Duration
}

func (e *withinError) Unwrap() error             { return e.error }
func (e *withinError) HTTPStatusCode() int       { return e.status }
func (e *withinError) RetryAfter() time.Duration { return e.after }

// statusWithin returns err with the status of the response that it was made of, for
// the Classifier; err itself if there is none. Errors such as the RetrieveError of
// golang.org/x/oauth2 have it in a field Response.
func statusWithin(err error, now time.Time) error {
	if status := proxyRefusal(err); status != 0 {
		return &withinError{err, status, 0}
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		v := reflect.ValueOf(e)
		if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
			continue
		}
		if _, ok := e.(interface{ HTTPStatusCode() int }); ok {
			return err
		}
		f := v.Elem().FieldByName("Response")
		if !f.IsValid() || !f.CanInterface() {
			continue
		}
		if resp, ok := f.Interface().(*http.Response); ok && resp != nil && resp.StatusCode >= 400 {
			return &withinError{err, resp.StatusCode, RetryAfter(resp, now)}
		}
	}
	return err
}
