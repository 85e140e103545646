package retryaws

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

// numbering detects how the SDK's loop numbers the retries of a call: from 1, or,
// with AWS_NEW_RETRIES_2026=true, from 0. It runs that loop once, so it stays
// correct if the SDK changes its default.
type numbering struct {
	once     sync.Once
	fromZero bool
}

// startsAtZero reports whether the SDK numbers the first retry 0.
func (n *numbering) startsAtZero() bool {
	n.once.Do(func() {
		p := &probe{first: 1}
		loop := sdkretry.NewAttemptMiddleware(p, func(request any) any { return request })
		_, _, _ = loop.HandleFinalize(context.Background(), middleware.FinalizeInput{}, p)
		n.fromZero = p.first == 0
	})
	return n.fromZero
}

// probe is both the Retryer of a loop and the request that fails in it. It
// records the number of the first retry and ends the loop there.
type probe struct {
	aws.NopRetryer
	first int
}

var errProbe = errors.New("retryaws: probe of the SDK's loop")

func (*probe) MaxAttempts() int            { return 2 }
func (*probe) IsErrorRetryable(error) bool { return true }

func (p *probe) RetryDelay(attempt int, _ error) (time.Duration, error) {
	p.first = attempt
	return 0, errProbe
}

func (*probe) HandleFinalize(context.Context, middleware.FinalizeInput) (middleware.FinalizeOutput, middleware.Metadata, error) {
	return middleware.FinalizeOutput{}, middleware.Metadata{}, errProbe
}
