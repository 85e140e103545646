package retryaws

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gobackoff/retry"
)

// WithPolicy replaces the SDK's loop with [retry.Do], for all calls of a client or
// for one:
//
//	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
//		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy))
//	})
//
// All fields of the policy have their usual meaning, except that the SDK's rules apply
// to errors that the Classifier classifies as [retry.ClassUnknown], or to all errors if
// there is no Classifier. The client's Retryer and RetryMaxAttempts, AWS_MAX_ATTEMPTS
// and AWS_NEW_RETRIES_2026 are ignored. A call that gives up returns a [retry.Error]
// inside the SDK's OperationError; errors.As still finds the API error.
//
// An attempt that returns no output within AttemptTimeout is canceled and counts as a
// timeout; a later output is discarded. Reading a streamed body, like that of S3's
// GetObject, is not part of the attempt.
//
// A request whose body cannot be rewound is attempted once. Presigning is not affected.
// Other functions of the SDK's loop are lost: metrics, spans and results of attempts
// (GetAttemptResults), the logs of aws.LogRetries (OnRetry can log instead), and the
// correction of a wrong clock.
//
// If the policy is invalid, every call fails before anything is sent, with an
// error that matches [retry.ErrInvalid].
func WithPolicy(p retry.Policy) func(*middleware.Stack) error {
	invalid := p.Validate()
	p = withDefaults(p)
	return func(stack *middleware.Stack) error {
		if invalid != nil {
			return invalid
		}
		if _, ok := stack.Finalize.Get(loopID); !ok {
			return nil // presigning has removed the loop
		}
		if p.AttemptTimeout > 0 {
			if err := stack.Deserialize.Add(releaser{}, middleware.After); err != nil {
				return err
			}
		}
		_, err := stack.Finalize.Swap(loopID, loop{p})
		return err
	}
}

const loopID = "Retry" // of the SDK's loop

type loop struct{ policy retry.Policy }

func (loop) ID() string { return loopID }

func (l loop) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
) {
	req, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return out, metadata, fmt.Errorf("retryaws: request of unknown type %T", in.Request)
	}
	p := l.policy
	p.AttemptTimeout = 0 // see timeLimit: a streamed body is read after the operation
	if req.GetStream() != nil && !req.IsStreamSeekable() {
		p.MaxAttempts = 1
	}
	number := 0
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		number++
		attempt, unfit := prepare(req, number, p.MaxAttempts)
		if unfit != nil {
			return retry.Permanent(errors.Join(err, unfit))
		}
		out, metadata, err = timeLimit(l.policy.AttemptTimeout).handle(ctx, middleware.FinalizeInput{Request: attempt}, next)
		err = withHint(err)
		return err
	})
	return out, metadata, err
}

// prepare returns a copy of req, because the rest of the stack modifies its request.
func prepare(req *smithyhttp.Request, number, most int) (*smithyhttp.Request, error) {
	attempt := req.Clone()
	if number > 1 {
		if err := attempt.RewindStream(); err != nil {
			return nil, fmt.Errorf("rewind the body for a retry: %w", err)
		}
	}
	header := fmt.Sprintf("attempt=%d", number)
	if most != math.MaxInt {
		header += fmt.Sprintf("; max=%d", most)
	}
	attempt.Header.Set("Amz-Sdk-Request", header)
	return attempt, nil
}
