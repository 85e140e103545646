package retrynats_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrynats"
)

type silent struct {
	jetstream.Msg
	meta jetstream.MsgMetadata
}

func (s *silent) Metadata() (*jetstream.MsgMetadata, error) { return &s.meta, nil }
func (s *silent) Ack() error                                { return nil }

// BenchmarkHandle measures the cost of a message that succeeds, without JetStream.
func BenchmarkHandle(b *testing.B) {
	for name, policy := range map[string]retry.Policy{
		"policy":    {},
		"all of it": {AttemptTimeout: 10 * time.Second, Budget: &awspreset.TokenBudget{}},
	} {
		b.Run(name, func(b *testing.B) {
			handle, err := retrynats.Handle(b.Context(), consumer(good), policy, returning(nil))
			require.NoError(b, err)
			msg := &silent{meta: delivered(1).meta}
			b.ReportAllocs()
			for b.Loop() {
				handle(msg)
			}
		})
	}
}
