package retryaws

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gobackoff/retry"
)

// WithPolicy puts [retry.Do] in the place of the SDK's loop, for all calls of a client or
// for one:
//
//	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
//		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy))
//	})
//
// All fields of the policy have their usual meaning, except that the SDK's rules apply
// to errors that the Classifier classifies as [retry.ClassUnknown], or to all errors if
// there is no Classifier. The client's Retryer and RetryMaxAttempts, and AWS_MAX_ATTEMPTS,
// are ignored. A call that gives up returns a [retry.Error] inside the SDK's
// OperationError; errors.As still finds the API error. If a program polls in a loop, pass
// the error to awspreset.LongPoll.
//
// An attempt that returns no output within AttemptTimeout is canceled and counts as a
// timeout; a later output is discarded. Reading a streamed body, like that of S3's
// GetObject, is not part of the attempt: see [Resume].
//
// The package comment says which headers are read for hints.
//
// A request whose body cannot be rewound is not repeated: after a failure that the policy
// would retry, the error's reason is [retry.ErrUnrepeatable]. Presigning is not affected.
//
// Like the SDKs, WithPolicy repeats requests that may already have taken effect. The option
// [Safely] prevents that.
//
// The SDK's loop still runs, but once for each attempt: it reports metrics and spans, and
// corrects the clock: after a failure due to a wrong clock, the next attempt is signed
// with the server's time, as are later calls of the client. GetAttemptResults returns only
// the last attempt, and aws.LogRetries logs nothing (OnRetry can log instead).
//
// If the policy is invalid, every call fails before anything is sent, with an
// error that matches [retry.ErrInvalid].
func WithPolicy(p retry.Policy, options ...Option) func(*middleware.Stack) error {
	invalid := p.Validate()
	hints := hintsOf(p)
	p.Classifier = classifierOf(p)
	return func(stack *middleware.Stack) error {
		if invalid != nil {
			return invalid
		}
		old, ok := stack.Finalize.Get(loopID)
		if !ok {
			return nil // presigning has removed the loop
		}
		l := loop{policy: p, hints: hints, once: once(old)}
		for _, option := range options {
			option(&l)
		}
		if p.AttemptTimeout > 0 {
			if err := addOnce(stack, releaser{}); err != nil {
				return err
			}
		}
		if l.resume {
			if err := addOnce(stack, resumer{}); err != nil {
				return err
			}
		}
		_, l.hasToken = stack.Initialize.Get(tokenID)
		_, err := stack.Finalize.Swap(loopID, l)
		return err
	}
}

const loopID = "Retry" // of the SDK's loop

// addOnce adds a step next to the transport, unless it is there because WithPolicy was applied
// twice, as for a client and then for one call.
func addOnce(stack *middleware.Stack, step middleware.DeserializeMiddleware) error {
	_, found := stack.Deserialize.Get(step.ID())
	if found {
		return nil
	}
	return stack.Deserialize.Add(step, middleware.After)
}

// once returns the SDK's loop for a single attempt, with the clock and the meter of the
// client's.
func once(old middleware.FinalizeMiddleware) *sdkretry.Attempt {
	if l, ok := old.(loop); ok { // WithPolicy was applied twice
		return l.once
	}
	return sdkretry.NewAttemptMiddleware(aws.NopRetryer{}, smithyhttp.RequestCloner, func(m *sdkretry.Attempt) {
		if client, ok := old.(*sdkretry.Attempt); ok {
			m.OperationMeter, m.ClientSkew, m.DisableClockSkewCorrection = client.OperationMeter, client.ClientSkew, client.DisableClockSkewCorrection
		}
		if m.ClientSkew == nil {
			m.ClientSkew = new(atomic.Int64) // at least the next attempt's clock is corrected
		}
	})
}

type loop struct {
	policy   retry.Policy
	hints    hintReader
	once     *sdkretry.Attempt
	safely   *safely // nil: repeat whatever the policy retries
	resume   bool    // the body of GetObject goes on after a lost connection
	hasToken bool    // the SDK fills an idempotency token of the operation
}

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
	attempt := attempt{most: p.Attempts(), once: l.once, next: next}
	rewinds := req.GetStream() == nil || req.IsStreamSeekable()
	if !rewinds {
		attempt.most = 1
	}
	ctx = l.resumable(ctx, req, next)
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		attempt.number++
		if attempt.number > 1 {
			if unfit := req.RewindStream(); unfit != nil {
				return retry.Permanent(errors.Join(err, fmt.Errorf("rewind the body for a retry: %w", unfit)))
			}
		}
		var sent *sending
		if l.safely != nil {
			ctx, sent = watch(ctx)
		}
		out, metadata, err = timeLimit(l.policy.AttemptTimeout).handle(ctx, in, attempt)
		err = l.hints.add(err)
		switch {
		case err == nil || p.Classify(err).Class == retry.ClassPermanent:
		case !rewinds:
			err = retry.Unrepeatable(fmt.Errorf("%w (the body of the request cannot be rewound: pass an io.ReadSeeker)", err))
		case l.safely != nil && !l.safely.mayRepeat(ctx, req, l.hasToken) && sent.mayHaveEffect(err):
			err = retry.Unrepeatable(fmt.Errorf("%w (the operation may have taken effect; if it may be executed twice, name %s in Safely to repeat it)",
				err, middleware.GetOperationName(ctx)))
		}
		return err
	})
	return out, metadata, err
}

// An attempt runs the SDK's loop once, which passes a copy of the request to numbered.
type attempt struct {
	number, most int
	once         *sdkretry.Attempt
	next         middleware.FinalizeHandler
}

func (a attempt) HandleFinalize(ctx context.Context, in middleware.FinalizeInput) (middleware.FinalizeOutput, middleware.Metadata, error) {
	return a.once.HandleFinalize(ctx, in, numbered(a))
}

// numbered replaces the header of the SDK's loop, which counts each attempt as the first.
type numbered attempt

func (n numbered) HandleFinalize(ctx context.Context, in middleware.FinalizeInput) (middleware.FinalizeOutput, middleware.Metadata, error) {
	header := fmt.Sprintf("attempt=%d", n.number)
	if n.most != math.MaxInt {
		header += fmt.Sprintf("; max=%d", n.most)
	}
	in.Request.(*smithyhttp.Request).Header.Set("Amz-Sdk-Request", header)
	return n.next.HandleFinalize(ctx, in)
}
