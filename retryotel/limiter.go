package retryotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gobackoff/retry/ratelimit"
)

// ObserveLimiter reports what a Limiter knows about a server's limits, with the attribute
// retry.limiter:
//
//	retry.limit.size       gauge    each limit, by retry.limit, the Name of its State
//	retry.limit.remaining  gauge    what is left of it
//	retry.limit.waiting    gauge    calls that wait
//	retry.limit.waits      counter  attempts that had to wait
//	retry.limit.waited     counter  the seconds that they waited
//
// It uses the MeterProvider of i. Unregister the result when the Limiter is no longer used.
func (i Instrumentation) ObserveLimiter(l *ratelimit.Limiter, name string) (metric.Registration, error) {
	meter := i.meter()
	size, err1 := meter.Float64ObservableGauge("retry.limit.size", metric.WithDescription("A server's limit: calls or units."))
	remaining, err2 := meter.Float64ObservableGauge("retry.limit.remaining", metric.WithDescription("What is left of a server's limit."))
	waiting, err3 := meter.Int64ObservableGauge("retry.limit.waiting", metric.WithUnit("{call}"),
		metric.WithDescription("Calls that wait for a limit."))
	waits, err4 := meter.Int64ObservableCounter("retry.limit.waits", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts that had to wait for a limit."))
	waited, err5 := meter.Float64ObservableCounter("retry.limit.waited", metric.WithUnit("s"),
		metric.WithDescription("Time that attempts waited for a limit."))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	limiter := attribute.String("retry.limiter", name)
	attributes := metric.WithAttributeSet(attribute.NewSet(limiter))
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := l.Stats()
		for _, state := range s.States {
			of := metric.WithAttributeSet(attribute.NewSet(limiter, attribute.String("retry.limit", state.Name)))
			o.ObserveFloat64(size, state.Limit, of)
			o.ObserveFloat64(remaining, state.Remaining, of)
		}
		o.ObserveInt64(waiting, int64(s.Waiting), attributes)
		o.ObserveInt64(waits, int64(s.Waits), attributes)
		o.ObserveFloat64(waited, s.Waited.Seconds(), attributes)
		return nil
	}, size, remaining, waiting, waits, waited)
}
