package recipes

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// KafkaOptions makes a franz-go client retry requests to brokers, and dialing, with the
// policy's delays.
func KafkaOptions(policy retry.Policy) []kgo.Opt {
	return []kgo.Opt{
		kgo.RetryBackoffFn(adapt.OneBased(policy)),
		kgo.RequestRetries(policy.MaxAttempts - 1),
	}
}
