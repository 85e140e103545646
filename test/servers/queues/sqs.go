package queues

import (
	"context"
	"fmt"
	"maps"
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

// The attributes that SQS adds to a dead letter, which also has those of the message.
const (
	attributeReason = "dead-letter-reason" // see retry.Error.ReasonLabel
	attributeError  = "dead-letter-error"
)

// SQS consumes a queue of Amazon SQS. A message that waits for its next attempt is invisible, for
// at most 12 hours, and one that was given up is in the queue Dead. SQS counts receipts, so an
// attempt counts, too, if the worker was stopped or killed. To handle several messages at a time,
// run several Keepers.
type SQS struct {
	Client     *sqs.Client
	URL        string
	Dead       string        // the URL of the queue for dead letters
	Visibility time.Duration // after which the message of a killed worker is received again; longer than AttemptTimeout
	MaxReceive int           // a message that was received more often is given up without another attempt: that of a killer
	Policy     retry.Policy  // with an AttemptTimeout
	Handle     func(context.Context, types.Message) error
}

// Session is for a [retrykeep.Keeper]. When ctx ends, the current message is settled first.
func (s SQS) Session(ctx context.Context, up func()) error {
	err := s.check()
	if err != nil {
		return err
	}
	connected := false
	for ctx.Err() == nil {
		out, err := s.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl:                    &s.URL,
			MaxNumberOfMessages:         1, // the visibility timeout begins for all of them at once
			WaitTimeSeconds:             patience(connected),
			VisibilityTimeout:           int32(math.Ceil(s.Visibility.Seconds())),
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
			MessageAttributeNames:       []string{"All"},
		})
		if err != nil {
			return err
		}
		if !connected {
			connected = true
			up()
		}
		for _, m := range out.Messages {
			err := s.settle(ctx, m)
			if err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// patience returns the number of seconds for which SQS waits for a message. The first answer, which
// shows that the queue can be read, comes at once.
func patience(connected bool) int32 {
	if !connected {
		return 0
	}
	return 20
}

func (s SQS) check() error {
	err := check(s.Policy)
	if err != nil {
		return err
	}
	if s.Visibility <= s.Policy.AttemptTimeout || s.Visibility > longestVisibility || s.MaxReceive < 1 {
		return retry.Permanent(fmt.Errorf("%w: Visibility has to be longer than AttemptTimeout and at most 12 hours, and MaxReceive at least 1", retry.ErrInvalid))
	}
	return nil
}

// settle handles a message and tells SQS what to do with it. The error is that of SQS.
func (s SQS) settle(ctx context.Context, m types.Message) error {
	number, _ := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	o := adapt.Outcome{Action: adapt.DeadLetter, Err: &retry.Error{Err: retry.ErrNoReturn, Reason: retry.ErrMaxAttempts, Attempts: number}}
	if number <= s.MaxReceive {
		o = attempt(ctx, s.Policy, aws.ToString(m.MessageId), number, func(ctx context.Context) error { return s.Handle(ctx, m) })
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	switch o.Action {
	case adapt.Redeliver, adapt.GiveBack:
		_, err := s.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: &s.URL, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: wholeSeconds(o.Wait),
		})
		return err
	case adapt.DeadLetter:
		_, err := s.Client.SendMessage(ctx, s.letter(m, o.Err))
		if err != nil {
			return notStored(s.Dead, err)
		}
	}
	_, err := s.Client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &s.URL, ReceiptHandle: m.ReceiptHandle})
	return err
}

func (s SQS) letter(m types.Message, e *retry.Error) *sqs.SendMessageInput {
	letter := &sqs.SendMessageInput{QueueUrl: &s.Dead, MessageBody: m.Body, MessageAttributes: maps.Clone(m.MessageAttributes)}
	reason, text := reasonOf(e)
	const most = 10 // attributes of a message
	if len(m.MessageAttributes)+2 <= most {
		if letter.MessageAttributes == nil {
			letter.MessageAttributes = map[string]types.MessageAttributeValue{}
		}
		letter.MessageAttributes[attributeReason] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &reason}
		letter.MessageAttributes[attributeError] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &text}
	}
	group, fifo := m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
	if fifo {
		letter.MessageGroupId = &group
		letter.MessageDeduplicationId = m.MessageId
	}
	return letter
}

const longestVisibility = 12 * time.Hour

// wholeSeconds rounds up with the probability of the fraction, which preserves the jitter.
func wholeSeconds(wait time.Duration) int32 {
	return int32(min(longestVisibility.Seconds(), math.Floor(wait.Seconds()+rand.Float64())))
}
