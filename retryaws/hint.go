package retryaws

import (
	"errors"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gobackoff/retry/retryhttp"
)

// withHint adds the hint in the response's headers to err, for package retry. Without
// a hint it returns err itself.
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

type hintError struct {
	err   error
	after time.Duration
}

func (e *hintError) Error() string             { return e.err.Error() }
func (e *hintError) Unwrap() error             { return e.err }
func (e *hintError) RetryAfter() time.Duration { return e.after }
