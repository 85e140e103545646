package retryaws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

// numbering detects whether the SDK's loop numbers retries from 1 or from 0, as before
// v1.48.0 with AWS_NEW_RETRIES_2026=true. It runs the SDK's loop once.
type numbering struct {
	once     sync.Once
	fromZero bool
}

func (n *numbering) startsAtZero() bool {
	n.once.Do(func() {
		p := &probe{first: 1}
		loop := sdkretry.NewAttemptMiddleware(p, func(request any) any { return request })
		_, _, _ = loop.HandleFinalize(context.Background(), middleware.FinalizeInput{}, p)
		n.fromZero = p.first == 0
	})
	return n.fromZero
}

// followsHeader reports whether the SDK's loop lengthens waits by x-amz-retry-after: since
// v1.48.0 always, and before if it numbers retries from 0.
func (n *numbering) followsHeader() bool { return isSince148() || n.startsAtZero() }

func isSince148() bool {
	var major, minor int
	if _, err := fmt.Sscanf(aws.SDKVersion, "%d.%d.", &major, &minor); err != nil {
		return true
	}
	return major > 1 || minor >= 48
}

// probe is both the Retryer and the handler of a loop. It fails, records the number of
// the first retry, and ends the loop there.
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
