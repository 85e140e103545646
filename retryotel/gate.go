package retryotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gobackoff/retry/admit"
)

// ObserveGate reports the state of an admission gate as the metrics admit.limit,
// admit.in_flight, admit.own_time, admit.admitted and admit.refused, with the attribute
// admit.gate. It uses the MeterProvider of i. Unregister the result when the gate is no
// longer used.
func (i Instrumentation) ObserveGate(gate *admit.Gate, name string) (metric.Registration, error) {
	meter := i.meter()
	limit, err1 := meter.Float64ObservableGauge("admit.limit", metric.WithUnit("{request}"),
		metric.WithDescription("Requests that may be in progress."))
	inFlight, err2 := meter.Int64ObservableGauge("admit.in_flight", metric.WithUnit("{request}"),
		metric.WithDescription("Requests in progress."))
	own, err3 := meter.Float64ObservableGauge("admit.own_time", metric.WithUnit("s"),
		metric.WithDescription("Time that the handler takes for a request that does not wait."))
	admitted, err4 := meter.Int64ObservableCounter("admit.admitted", metric.WithUnit("{request}"),
		metric.WithDescription("Admitted requests."))
	refused, err5 := meter.Int64ObservableCounter("admit.refused", metric.WithUnit("{request}"),
		metric.WithDescription("Refused requests."))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	attributes := metric.WithAttributeSet(attribute.NewSet(attribute.String("admit.gate", name)))
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := gate.Stats()
		o.ObserveFloat64(limit, s.Limit, attributes)
		o.ObserveInt64(inFlight, int64(s.InFlight), attributes)
		o.ObserveFloat64(own, s.Own.Seconds(), attributes)
		o.ObserveInt64(admitted, int64(s.Admitted), attributes)
		o.ObserveInt64(refused, int64(s.Refused), attributes)
		return nil
	}, limit, inFlight, own, admitted, refused)
}
