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

// Redeliver makes SQS redeliver a message that failed with err after the policy's
// wait. It returns the reason if there should be no retry: then delete the message, or
// leave it to the queue's redrive policy. The message must be received with the
// attribute ApproximateReceiveCount.
func Redeliver(ctx context.Context, client *sqs.Client, queue string, m types.Message, policy retry.Policy, err error) error {
	received, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	wait, reason := adapt.DelayFor(policy, aws.ToString(m.MessageId), received, err)
	if reason != nil {
		return reason
	}
	_, err = client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: wholeSeconds(wait),
	})
	return err
}

// wholeSeconds rounds at random, up with the probability of the fraction. SQS accepts only
// whole seconds, and rounding all waits in the same way would undo the jitter.
func wholeSeconds(wait time.Duration) int32 {
	const most = 12 * 60 * 60 // a limit of SQS
	return int32(min(most, math.Floor(wait.Seconds()+rand.Float64())))
}
