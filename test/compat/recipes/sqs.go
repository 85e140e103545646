package recipes

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// Redeliver makes SQS redeliver a failed message after the policy's wait, or returns the
// reason for giving up. err is that of SQS.
func Redeliver(ctx context.Context, client *sqs.Client, queue string, m types.Message, policy retry.Policy, failure error) (reason, err error) {
	received, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	wait, reason := adapt.DelayFor(policy, aws.ToString(m.MessageId), received, failure)
	if reason != nil {
		return reason, nil
	}
	_, err = client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: wholeSeconds(wait),
	})
	return nil, err
}

// wholeSeconds rounds up with the probability of the fraction, which preserves the
// jitter.
func wholeSeconds(wait time.Duration) int32 {
	const most = 12 * 60 * 60 // a limit of SQS
	return int32(min(most, math.Floor(wait.Seconds()+rand.Float64())))
}
