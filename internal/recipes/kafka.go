package recipes

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// KafkaOptions returns options with the policy's delays for a franz-go client. They apply
// to requests to brokers and to dialing. Errors of single partitions, for example while a
// leader moves, are retried by franz-go without asking for a delay: bound those with
// kgo.RecordDeliveryTimeout. The policy must have its MaxAttempts set.
func KafkaOptions(policy retry.Policy) []kgo.Opt {
	return []kgo.Opt{
		kgo.RetryBackoffFn(adapt.OneBased(policy)),
		kgo.RequestRetries(policy.MaxAttempts - 1),
	}
}
