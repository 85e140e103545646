package retryaws

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhttp"
)

// A hintReader returns the wait that the headers of a response ask for, or 0.
type hintReader func(*http.Response) time.Duration

// hintsOf returns the reader for a policy's client. If the policy's Classifier is that of a
// preset, or consults one, the reader reads the headers that the preset's SDK reads. Otherwise it
// reads all headers that retryhttp knows.
func hintsOf(p retry.Policy) hintReader {
	preset, ok := presetOf(p.Classifier)
	if !ok {
		return func(r *http.Response) time.Duration { return retryhttp.RetryAfter(r, time.Now()) }
	}
	return func(r *http.Response) time.Duration {
		return preset.RetryAfter(r.StatusCode, r.Header.Get, time.Now())
	}
}

// presetOf returns the preset of the first Classifier of package awspreset among c and those that
// c consults.
func presetOf(c retry.Classifier) (awspreset.Preset, bool) {
	switch c := c.(type) {
	case awspreset.Classifier:
		return c.Preset, true
	case *awspreset.Classifier:
		if c != nil {
			return c.Preset, true
		}
	case interface{ Unwrap() []retry.Classifier }:
		for _, part := range c.Unwrap() {
			preset, ok := presetOf(part)
			if ok {
				return preset, true
			}
		}
	}
	return 0, false
}

// add adds the hint in the response's headers to err, for package retry. Without a hint it
// returns err itself.
func (read hintReader) add(err error) error {
	response := responseOf(err)
	if response == nil {
		return err
	}
	if after := read(response); after > 0 {
		return &hintError{err, after}
	}
	return err
}

// responseOf returns the response in err, or nil.
func responseOf(err error) *http.Response {
	var response *smithyhttp.ResponseError
	if !errors.As(adapt.Finite(err), &response) || response == nil || response.Response == nil {
		return nil
	}
	return response.Response.Response
}

// sdkAddsHint reports whether the SDK's loop itself lengthens the wait after err as
// [awspreset.HintWindow] does.
func sdkAddsHint(err error) bool {
	response := responseOf(err)
	if response == nil {
		return false
	}
	_, failed := strconv.ParseInt(response.Header.Get("X-Amz-Retry-After"), 10, 64)
	return failed == nil
}

type hintError struct {
	err   error
	after time.Duration
}

func (e *hintError) Error() string             { return e.err.Error() }
func (e *hintError) Unwrap() error             { return e.err }
func (e *hintError) RetryAfter() time.Duration { return e.after }
