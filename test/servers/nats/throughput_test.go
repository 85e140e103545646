//go:build unix

package nats_test

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrynats"
)

// BenchmarkThroughput consumes the same messages alternately with a bare Ack and with a
// handler. It reports the shortest time per message of each, their ratio, and the ratio of
// the CPU times, which other programs affect less.
func BenchmarkThroughput(b *testing.B) {
	for _, c := range []struct {
		name   string
		policy retry.Policy
		bare   jetstream.MessageHandler
	}{
		{"policy", retry.Policy{}, func(msg jetstream.Msg) { _ = msg.Ack() }},
		{"budget", retry.Policy{Budget: &awspreset.TokenBudget{}}, func(msg jetstream.Msg) { _ = msg.Ack() }},
		{"time limit", retry.Policy{AttemptTimeout: 10 * time.Second}, func(msg jetstream.Msg) {
			_, cancel := context.WithTimeout(b.Context(), 10*time.Second) // as one would by hand
			defer cancel()
			_ = msg.Ack()
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			const n = 10_000
			js := startEmbedded(b).connect(b)
			_, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "WORK", Subjects: []string{"work.>"}})
			require.NoError(b, err)
			for range n {
				_, err := js.PublishAsync("work.do", make([]byte, 100))
				require.NoError(b, err)
			}
			<-js.PublishAsyncComplete()
			consumeAll := func(with func(jetstream.Consumer) jetstream.MessageHandler) cost {
				consumer, err := js.CreateOrUpdateConsumer(b.Context(), "WORK", jetstream.ConsumerConfig{Durable: "worker", MaxAckPending: -1})
				require.NoError(b, err)
				handle, seen, done := with(consumer), 0, make(chan struct{})
				start := now()
				consuming, err := consumer.Consume(func(msg jetstream.Msg) {
					handle(msg)
					if seen++; seen == n {
						close(done)
					}
				})
				require.NoError(b, err)
				<-done
				require.NoError(b, js.Conn().Flush())
				end := now()
				consuming.Stop()
				require.NoError(b, js.DeleteConsumer(b.Context(), "WORK", "worker"))
				return cost{(end.wall - start.wall) / n, (end.cpu - start.cpu) / n}
			}
			bare := func(jetstream.Consumer) jetstream.MessageHandler { return c.bare }
			handled := func(consumer jetstream.Consumer) jetstream.MessageHandler {
				handle, err := retrynats.Handle(b.Context(), consumer, c.policy, func(context.Context, jetstream.Msg) error { return nil })
				require.NoError(b, err)
				return handle
			}
			var bares, handleds []cost
			for b.Loop() {
				bares, handleds = append(bares, consumeAll(bare)), append(handleds, consumeAll(handled))
			}
			wall, cpu := func(c cost) float64 { return c.wall }, func(c cost) float64 { return c.cpu }
			b.ReportMetric(least(bares, wall), "bare-ns/msg")
			b.ReportMetric(least(handleds, wall), "handled-ns/msg")
			b.ReportMetric(least(handleds, wall)/least(bares, wall), "ratio")
			b.ReportMetric(median(handleds, cpu)/median(bares, cpu), "cpu-ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// cost holds times in nanoseconds.
type cost struct{ wall, cpu float64 }

var epoch = time.Now()

func now() cost {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // never fails
	return cost{float64(time.Since(epoch)), float64(usage.Utime.Nano() + usage.Stime.Nano())}
}

func sorted(costs []cost, by func(cost) float64) []float64 {
	var values []float64
	for _, c := range costs {
		values = append(values, by(c))
	}
	slices.Sort(values)
	return values
}

func least(costs []cost, by func(cost) float64) float64 { return sorted(costs, by)[0] }

func median(costs []cost, by func(cost) float64) float64 { return sorted(costs, by)[len(costs)/2] }
