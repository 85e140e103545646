package retryotel

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retrykeep"
)

// InstrumentKeeper makes k count its connections in the metric retry.connections, under the
// name of an operation. It calls the OnChange that k had before, and must itself be called
// before k is used.
//
// The attribute retry.connection.event is connected when a connection is up, ended when a
// useful one has ended, short when one ended sooner than [retrykeep.Keeper.Useful], and
// failed when none was made.
func (i Instrumentation) InstrumentKeeper(k *retrykeep.Keeper, operation string) {
	connections, err := i.meter().Int64Counter("retry.connections", metric.WithUnit("{connection}"),
		metric.WithDescription("Connections that were made, have ended, or could not be made."))
	if err != nil {
		otel.Handle(err) // the counter is usable and does nothing
	}
	name := attribute.String("retry.operation", operation)
	count := func(ctx context.Context, event string, more ...attribute.KeyValue) {
		attributes := append(more, name, attribute.String("retry.connection.event", event))
		connections.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(attributes...)))
	}
	before := k.OnChange
	phase := retrykeep.Stopped // of the last change; OnChange is not called concurrently
	k.OnChange = func(ctx context.Context, s retrykeep.State) {
		switch {
		case s.Phase == retrykeep.Connected:
			count(ctx, "connected")
		case s.Phase == retrykeep.Connecting:
		case phase == retrykeep.Connected && s.Useful:
			count(ctx, "ended", errorType(s.Err))
		case phase == retrykeep.Connected:
			count(ctx, "short", errorType(s.Err))
		case phase == retrykeep.Connecting:
			count(ctx, "failed", errorType(s.Err))
		}
		phase = s.Phase
		if before != nil {
			before(ctx, s)
		}
	}
}

// CountItems returns a function for [retrybatch.Batch].OnItems that counts items in the metric
// retry.items, under the name of an operation. The attribute retry.fate is accepted, refused,
// unknown, given_up or not_sent.
func (i Instrumentation) CountItems(operation string) func(context.Context, retrybatch.Fate, int) {
	items, err := i.meter().Int64Counter("retry.items", metric.WithUnit("{item}"),
		metric.WithDescription("Items of batches, by what became of them."))
	if err != nil {
		otel.Handle(err) // the counter is usable and does nothing
	}
	name := attribute.String("retry.operation", operation)
	return func(ctx context.Context, fate retrybatch.Fate, n int) {
		label := attribute.String("retry.fate", strings.ReplaceAll(fate.String(), " ", "_"))
		items.Add(ctx, int64(n), metric.WithAttributeSet(attribute.NewSet(name, label)))
	}
}
