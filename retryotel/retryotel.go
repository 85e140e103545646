package retryotel

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

const (
	module = "github.com/gobackoff/retry"
	scope  = module + "/retryotel"

	// schema is that of OpenTelemetry's semantic conventions 1.43.0, whose names are used
	// where they have one.
	schema = "https://opentelemetry.io/schemas/1.43.0"
)

// version returns the version of this module in the program, such as v0.1.0, or "" if
// the program was built without one.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range append(info.Deps, &info.Main) {
		if module.Path == scope {
			return module.Version
		}
	}
	return ""
})

// bounds are the bucket boundaries for waits in seconds. OpenTelemetry's defaults are
// for milliseconds and would put nearly all waits in one bucket.
var bounds = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 300}

// Instrument returns the policy with hooks that trace and count its attempts under the
// name of an operation. Use a small set of names: the name is an attribute of the metrics.
func Instrument(p retry.Policy, operation string) retry.Policy {
	return Instrumentation{}.Instrument(p, operation)
}

// An Instrumentation holds the providers of spans and metrics.
type Instrumentation struct {
	TracerProvider trace.TracerProvider // nil: otel.GetTracerProvider()
	MeterProvider  metric.MeterProvider // nil: otel.GetMeterProvider()
}

// Instrument is like the function [Instrument], but uses the providers of i.
func (i Instrumentation) Instrument(p retry.Policy, operation string) retry.Policy {
	if i.TracerProvider == nil {
		i.TracerProvider = otel.GetTracerProvider()
	}
	return p.With(newRecorder(i, operation).hooks())
}

func (i Instrumentation) meter() metric.Meter {
	if i.MeterProvider == nil {
		i.MeterProvider = otel.GetMeterProvider()
	}
	return i.MeterProvider.Meter(scope, metric.WithInstrumentationVersion(version()), metric.WithSchemaURL(schema))
}

type recorder struct {
	span      string
	tracer    trace.Tracer
	attempts  metric.Int64Counter
	delay     metric.Float64Histogram
	giveUps   metric.Int64Counter
	saved     metric.Int64Counter
	operation attribute.KeyValue
	plain     metric.MeasurementOption // retry.operation alone
	succeeded metric.MeasurementOption // and retry.outcome
}

func newRecorder(i Instrumentation, operation string) *recorder {
	r := &recorder{
		span:      operation + " attempt",
		tracer:    i.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(version()), trace.WithSchemaURL(schema)),
		operation: attribute.String("retry.operation", operation),
	}
	r.plain = r.with()
	r.succeeded = r.with(attribute.String("retry.outcome", "success"))
	meter := i.meter()
	var err error
	// An instrument returned with an error is usable and does nothing.
	if r.attempts, err = meter.Int64Counter("retry.attempts", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts of operations, including the first.")); err != nil {
		otel.Handle(err)
	}
	if r.delay, err = meter.Float64Histogram("retry.delay", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(bounds...),
		metric.WithDescription("Waits before retries.")); err != nil {
		otel.Handle(err)
	}
	if r.giveUps, err = meter.Int64Counter("retry.give_ups", metric.WithUnit("{call}"),
		metric.WithDescription("Calls that ended without success.")); err != nil {
		otel.Handle(err)
	}
	if r.saved, err = meter.Int64Counter("retry.saved", metric.WithUnit("{call}"),
		metric.WithDescription("Calls that succeeded because of a retry.")); err != nil {
		otel.Handle(err)
	}
	return r
}

func (r *recorder) with(attributes ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(attributes, r.operation)...))
}

func (r *recorder) hooks() retry.Hooks {
	return retry.Hooks{OnAttempt: r.onAttempt, OnRetry: r.onRetry, OnGiveUp: r.onGiveUp}
}

func (r *recorder) onAttempt(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
	attributes := append(make([]attribute.KeyValue, 0, 2), attribute.Int("retry.attempt", a.Number))
	if a.Waited > 0 {
		attributes = append(attributes, attribute.Float64("retry.waited", a.Waited.Seconds()))
	}
	options := []trace.SpanStartOption{trace.WithAttributes(attributes...)}
	call, _ := ctx.Value(callKey{}).(*call)
	if call != nil {
		if before := call.last.Load(); before != nil {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: *before}))
		}
	}
	inner, span := r.tracer.Start(ctx, r.span, options...)
	if call != nil {
		this := span.SpanContext()
		call.last.Store(&this)
		inner = context.WithValue(inner, callKey{}, nil) // the attempts of a loop inside are others
	}
	return context.WithValue(inner, attemptKey{}, a.Number), func(a retry.Attempt) {
		measured := r.succeeded
		if a.Err != nil {
			class, kind := outcomeOf(ctx, a), errorType(a.Err)
			span.SetAttributes(attribute.String("retry.class", class), kind)
			span.SetStatus(codes.Error, retry.Text(a.Err)) // not Error, which may panic on a typed nil
			measured = r.with(attribute.String("retry.outcome", class), kind)
		}
		r.attempts.Add(inner, 1, measured)
		if a.Err == nil && a.Number > 1 {
			r.saved.Add(inner, 1, r.plain)
		}
		span.End()
	}
}

// outcomeOf returns the class of a failure, or canceled if the caller ended the attempt.
func outcomeOf(ctx context.Context, a retry.Attempt) string {
	if ctx.Err() == context.Canceled && errors.Is(adapt.Finite(a.Err), context.Canceled) {
		return "canceled"
	}
	return a.Class.String()
}

func (r *recorder) onRetry(ctx context.Context, _ retry.Attempt, wait time.Duration) {
	r.delay.Record(ctx, wait.Seconds(), r.plain)
}

func (r *recorder) onGiveUp(ctx context.Context, e *retry.Error) {
	reason, kind := attribute.String("retry.reason", e.ReasonLabel()), errorType(e)
	r.giveUps.Add(ctx, 1, r.with(reason, kind))
	trace.SpanFromContext(ctx).AddEvent("retry.give_up", trace.WithAttributes(r.operation, reason, kind))
}

// call is shared by the attempts of one call.
type call struct {
	last atomic.Pointer[trace.SpanContext]
}

type callKey struct{}

// OneCall returns a context for one call, in which each attempt's span is linked to the
// span of the previous attempt:
//
//	retry.Do(retryotel.OneCall(ctx), policy, op)
//
// Hooks alone cannot distinguish the attempts of one call from those of another.
func OneCall(ctx context.Context) context.Context {
	return context.WithValue(ctx, callKey{}, &call{})
}

type attemptKey struct{}
