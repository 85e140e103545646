package retryaws

import (
	"errors"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gobackoff/retry/retryhttp"
)

// withHint adds the wait that the server asked for in the headers of its response
// to err, so that package retry finds it. It returns err itself if there is none.
func withHint(err error) error {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) || response == nil || response.Response == nil || response.Response.Response == nil {
		return err
	}
	if after := retryhttp.RetryAfter(response.Response.Response, time.Now()); after > 0 {
		return &hintError{err, after}
	}
	return err
}

// hintError is an error with a hint.
type hintError struct {
	err   error
	after time.Duration
}

func (e *hintError) Error() string             { return e.err.Error() }
func (e *hintError) Unwrap() error             { return e.err }
func (e *hintError) RetryAfter() time.Duration { return e.after }
