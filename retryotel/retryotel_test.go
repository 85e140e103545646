package retryotel_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryotel"
	"github.com/gobackoff/retry/retrytest"
)

var errOp = errors.New("operation failed")

type telemetry struct {
	spans  *tracetest.SpanRecorder
	tracer *sdktrace.TracerProvider
	reader *sdkmetric.ManualReader
	retryotel.Instrumentation
}

func newTelemetry() *telemetry {
	tel := &telemetry{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	tel.tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(tel.spans))
	tel.Instrumentation = retryotel.Instrumentation{
		TracerProvider: tel.tracer,
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(tel.reader)),
	}
	return tel
}

// metrics returns the data by instrument name.
func (tel *telemetry) metrics(t *testing.T) map[string]metricdata.Aggregation {
	t.Helper()
	var collected metricdata.ResourceMetrics
	require.NoError(t, tel.reader.Collect(t.Context(), &collected))
	all := map[string]metricdata.Aggregation{}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			all[m.Name] = m.Data
		}
	}
	return all
}

// counts returns a counter's values by attribute, and asserts that each has the
// operation's name.
func counts(t *testing.T, data metricdata.Aggregation, key attribute.Key) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for _, p := range data.(metricdata.Sum[int64]).DataPoints {
		operation, _ := p.Attributes.Value("retry.operation")
		assert.Equal(t, "fetch page", operation.AsString())
		value, _ := p.Attributes.Value(key)
		all[value.AsString()] += p.Value
	}
	return all
}

func attributes(span sdktrace.ReadOnlySpan) map[attribute.Key]any {
	all := map[attribute.Key]any{}
	for _, kv := range span.Attributes() {
		all[kv.Key] = kv.Value.AsInterface()
	}
	return all
}

var seconds = retry.Policy{Backoff: retry.Exponential{Base: time.Second}, Clock: &retrytest.Clock{}}

// TestSpans: attempts are children of the operation's span, in order, and linked.
func TestSpans(t *testing.T) {
	tel := newTelemetry()
	ctx, root := tel.tracer.Tracer("test").Start(t.Context(), "handle request")
	policy := tel.Instrument(seconds, "fetch page")
	err := retry.Do(retryotel.OneCall(ctx), policy, retrytest.Script(errOp, retry.Throttled(errOp), nil).Run)
	require.NoError(t, err)
	root.End()
	spans := tel.spans.Ended()
	require.Len(t, spans, 4)
	for i, want := range []map[attribute.Key]any{
		{"retry.attempt": int64(1), "retry.class": "unknown", "error.type": "*errors.errorString"},
		{"retry.attempt": int64(2), "retry.class": "throttled", "retry.waited": 1.0, "error.type": "*errors.errorString"},
		{"retry.attempt": int64(3), "retry.waited": 2.0},
	} {
		span := spans[i]
		assert.Equal(t, "fetch page attempt", span.Name())
		assert.Equal(t, want, attributes(span))
		assert.Equal(t, root.SpanContext().SpanID(), span.Parent().SpanID())
		if i == 0 {
			assert.Empty(t, span.Links())
		} else {
			require.Len(t, span.Links(), 1)
			assert.Equal(t, spans[i-1].SpanContext().SpanID(), span.Links()[0].SpanContext.SpanID())
		}
		if i < 2 {
			assert.Equal(t, sdktrace.Status{Code: codes.Error, Description: "operation failed"}, span.Status())
		} else {
			assert.Equal(t, codes.Unset, span.Status().Code)
		}
	}
	assert.Empty(t, spans[3].Events(), "it did not give up")
	assert.Equal(t, "github.com/gobackoff/retry/retryotel", spans[0].InstrumentationScope().Name)
	assert.Equal(t, "https://opentelemetry.io/schemas/1.43.0", spans[0].InstrumentationScope().SchemaURL)
}

// TestNestedCalls: a loop inside an attempt has links of its own, or none.
func TestNestedCalls(t *testing.T) {
	tel := newTelemetry()
	outer, inner := tel.Instrument(seconds, "outer"), tel.Instrument(seconds, "inner")
	calls := 0
	require.NoError(t, retry.Do(retryotel.OneCall(t.Context()), outer, func(ctx context.Context) error {
		calls++
		if calls == 2 {
			ctx = retryotel.OneCall(ctx)
		}
		err := retry.Do(ctx, inner, retrytest.Script(errOp, nil).Run)
		if calls == 1 {
			return errOp
		}
		return err
	}))
	type link struct{ from, to string }
	var links []link
	numbers := map[trace.SpanID]string{}
	for _, span := range tel.spans.Started() {
		numbers[span.SpanContext().SpanID()] = strings.TrimSuffix(span.Name(), " attempt") + fmt.Sprint(" ", len(numbers)+1)
		for _, l := range span.Links() {
			links = append(links, link{numbers[span.SpanContext().SpanID()], numbers[l.SpanContext.SpanID()]})
		}
	}
	assert.Equal(t, []link{{"outer 4", "outer 1"}, {"inner 6", "inner 5"}}, links)
}

// TestCanceled: an attempt that the caller ended has no class of its own.
func TestCanceled(t *testing.T) {
	tel := newTelemetry()
	policy := tel.Instrument(seconds, "fetch page")
	ctx, cancel := context.WithCancel(t.Context())
	assert.Error(t, retry.Do(ctx, policy, func(ctx context.Context) error {
		cancel()
		return fmt.Errorf("read: %w", ctx.Err())
	}))
	assert.Error(t, retry.Do(t.Context(), policy, retrytest.Script(context.Canceled).Run), "not by the caller")
	assert.Equal(t, map[string]int64{"canceled": 1, "permanent": 1}, counts(t, tel.metrics(t)["retry.attempts"], "retry.outcome"))
	assert.Equal(t, "canceled", attributes(tel.spans.Ended()[0])["retry.class"])
}

// TestGiveUp: the reason is recorded as an event and a metric.
func TestGiveUp(t *testing.T) {
	tel := newTelemetry()
	policy := tel.Instrument(seconds, "fetch page")
	for _, err := range []error{errOp, errOp, retry.Permanent(errOp)} {
		ctx, root := tel.tracer.Tracer("test").Start(t.Context(), "handle request")
		assert.Error(t, retry.Do(ctx, policy, retrytest.Script(err).Run))
		root.End()
	}
	var reasons []string
	for _, span := range tel.spans.Ended() {
		if span.Name() == "handle request" {
			require.Len(t, span.Events(), 1)
			assert.Equal(t, "retry.give_up", span.Events()[0].Name)
			reasons = append(reasons, span.Events()[0].Attributes[1].Value.AsString())
		}
	}
	assert.Equal(t, []string{"attempts", "attempts", "permanent"}, reasons)
	assert.Equal(t, map[string]int64{"attempts": 2, "permanent": 1}, counts(t, tel.metrics(t)["retry.give_ups"], "retry.reason"))
}

func TestMetrics(t *testing.T) {
	tel := newTelemetry()
	policy := tel.Instrument(seconds, "fetch page")
	require.NoError(t, retry.Do(t.Context(), policy, retrytest.Script(errOp, retry.Throttled(errOp), nil).Run))
	require.NoError(t, retry.Do(t.Context(), policy, retrytest.Script().Run))
	metrics := tel.metrics(t)
	assert.Equal(t, map[string]int64{"success": 2, "unknown": 1, "throttled": 1}, counts(t, metrics["retry.attempts"], "retry.outcome"))
	assert.Equal(t, map[string]int64{"fetch page": 1}, counts(t, metrics["retry.saved"], "retry.operation"))
	delays := metrics["retry.delay"].(metricdata.Histogram[float64]).DataPoints
	require.Len(t, delays, 1)
	assert.EqualValues(t, 2, delays[0].Count)
	assert.EqualValues(t, 3, delays[0].Sum)
	assert.Equal(t, 0.001, delays[0].Bounds[0])
	used := 0
	for _, n := range delays[0].BucketCounts {
		used += int(min(1, n))
	}
	assert.Equal(t, 2, used, "1 s and 2 s are in different buckets")
	assert.NotContains(t, metrics, "retry.give_ups")
}

// TestComposes: the policy's own hooks run outside those for spans.
func TestComposes(t *testing.T) {
	tel := newTelemetry()
	type key struct{}
	var attempts, retries, gaveUp int
	policy := seconds
	policy.Hooks = retry.Hooks{
		OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
			attempts++
			return context.WithValue(ctx, key{}, "kept"), nil
		},
		OnRetry:  func(context.Context, retry.Attempt, time.Duration) { retries++ },
		OnGiveUp: func(context.Context, *retry.Error) { gaveUp++ },
	}
	err := retry.Do(t.Context(), tel.Instrument(policy, "fetch page"), func(ctx context.Context) error {
		assert.Equal(t, "kept", ctx.Value(key{}))
		return errOp
	})
	assert.Error(t, err)
	assert.Equal(t, []int{3, 2, 1}, []int{attempts, retries, gaveUp})
	assert.Len(t, tel.spans.Ended(), 3)
}

// TestTypedNil: the call survives errors whose methods panic.
func TestTypedNil(t *testing.T) {
	tel := newTelemetry()
	var none *fs.PathError
	assert.Error(t, retry.Do(t.Context(), tel.Instrument(seconds, "fetch page"), retrytest.Script(none).Run))
	assert.Equal(t, "<nil>", tel.spans.Ended()[0].Status().Description)
}

// TestNoSecrets: no part of a span has the credentials of a URL.
func TestNoSecrets(t *testing.T) {
	tel := newTelemetry()
	secret := &url.Error{Op: "Get", URL: "https://me:SECRET@host/a?sig=SECRET", Err: errOp}
	ctx, root := tel.tracer.Tracer("test").Start(t.Context(), "handle request")
	assert.Error(t, retry.Do(ctx, tel.Instrument(seconds, "fetch page"), retrytest.Script(fmt.Errorf("load: %w", secret)).Run))
	root.End()
	assert.Equal(t, `load: Get "https://host/a": operation failed`, tel.spans.Ended()[0].Status().Description)
	for _, span := range tel.spans.Ended() {
		assert.NotContains(t, fmt.Sprint(span.Status(), span.Attributes(), span.Events()), "SECRET")
	}
}

// TestPanic: if an attempt panics, its span still ends.
func TestPanic(t *testing.T) {
	tel := newTelemetry()
	assert.Panics(t, func() {
		_ = retry.Do(t.Context(), tel.Instrument(seconds, "fetch page"), func(context.Context) error { panic("op") })
	})
	require.Len(t, tel.spans.Ended(), 1)
	assert.Equal(t, retry.ErrNoReturn.Error(), tel.spans.Ended()[0].Status().Description)
}

// TestGlobal: without an Instrumentation, the global providers are used.
func TestGlobal(t *testing.T) {
	tel := newTelemetry()
	before := otel.GetTracerProvider()
	defer otel.SetTracerProvider(before)
	otel.SetTracerProvider(tel.tracer)
	require.NoError(t, retry.Do(t.Context(), retryotel.Instrument(seconds, "fetch page"), retrytest.Script().Run))
	assert.Len(t, tel.spans.Ended(), 1)
}

func BenchmarkDo(b *testing.B) {
	tel := newTelemetry()
	tel.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	for name, policy := range map[string]retry.Policy{"plain": {}, "instrumented, not sampled": tel.Instrument(retry.Policy{}, "fetch page")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = retry.Do(b.Context(), policy, func(context.Context) error { return nil })
			}
		})
	}
}
