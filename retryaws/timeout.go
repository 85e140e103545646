package retryaws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gobackoff/retry/adapt"
)

// timeLimit is a time limit for one attempt; 0 means none. The attempt's context ends
// when the body is closed, not when the attempt returns, because the caller may still
// read the body.
type timeLimit time.Duration

type cancelKey struct{}

func (limit timeLimit) handle(parent context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	if limit == 0 {
		return next.HandleFinalize(parent, in)
	}
	ctx, cancel := context.WithCancel(parent)
	timer := time.AfterFunc(time.Duration(limit), cancel)
	out, metadata, err := next.HandleFinalize(middleware.WithStackValue(ctx, cancelKey{}, cancel), in)
	inTime := timer.Stop()
	if err != nil {
		cancel()
	}
	// A late output is discarded; its unread body, if any, is cut off.
	if !inTime && parent.Err() == nil && (err == nil || errors.Is(adapt.Finite(err), context.Canceled)) {
		err = &timeoutError{limit, err}
	}
	return out, metadata, err
}

// timeoutError replaces the SDK's error, which would report a cancellation by the
// caller.
type timeoutError struct {
	limit timeLimit
	err   error // nil if there was an output
}

func (e *timeoutError) Error() string {
	text := fmt.Sprintf("attempt timed out after %v", time.Duration(e.limit))
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	return text
}
func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }
func (e *timeoutError) Timeout() bool { return true }

// releaser ends an attempt's context when its body is closed. The SDK closes bodies
// that it does not return to the caller.
type releaser struct{}

func (releaser) ID() string { return "ReleaseAttempt" }

func (releaser) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	out middleware.DeserializeOutput, metadata middleware.Metadata, err error,
) {
	out, metadata, err = next.HandleDeserialize(ctx, in)
	cancel, _ := middleware.GetStackValue(ctx, cancelKey{}).(context.CancelFunc)
	if resp, ok := out.RawResponse.(*smithyhttp.Response); ok && cancel != nil {
		resp.Body = &body{resp.Body, cancel}
	}
	return out, metadata, err
}

type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
