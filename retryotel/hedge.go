package retryotel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gobackoff/retry/retryhedge"
)

// InstrumentHedge makes h count its events in the metric retry.copies, and add them to the
// current span, under the name of an operation. It calls the OnEvent that h had before, and
// must itself be called before h is used.
func (i Instrumentation) InstrumentHedge(h *retryhedge.Hedge, operation string) {
	copies, err := i.meter().Int64Counter("retry.copies", metric.WithUnit("{copy}"),
		metric.WithDescription("Copies of slow calls that were started, won, or were refused by the budget."))
	if err != nil {
		otel.Handle(err) // the counter is usable and does nothing
	}
	before, name := h.OnEvent, attribute.String("retry.operation", operation)
	h.OnEvent = func(ctx context.Context, e retryhedge.Event) {
		kind := attribute.String("retry.copy.event", string(e.Kind))
		copies.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(name, kind)))
		trace.SpanFromContext(ctx).AddEvent("retry.copy", trace.WithAttributes(name, kind, attribute.Float64("retry.copy.wait", e.Wait.Seconds())))
		if before != nil {
			before(ctx, e)
		}
	}
}
