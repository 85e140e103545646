package retryotel_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryotel"
)

// Of three slow calls, the first has no budget, and of the other copies one wins.
func TestInstrumentHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, spans := sdk.NewManualReader(), tracetest.NewSpanRecorder()
		var before atomic.Int64 // a copy that is refused has its event in a goroutine of its own
		hedge := &retryhedge.Hedge{After: 60 * time.Millisecond, Share: 1, OnEvent: func(context.Context, retryhedge.Event) { before.Add(1) }}
		retryotel.Instrumentation{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))}.InstrumentHedge(hedge, "fetch page")
		ctx, span := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("").Start(t.Context(), "call")
		for _, takes := range [][2]time.Duration{{100, 0}, {100, 20}, {100, 80}} {
			_, done, err := retryhedge.Open(ctx, hedge, "", func(ctx context.Context, copy int) (int, error) {
				select {
				case <-time.After(takes[copy] * time.Millisecond):
				case <-ctx.Done():
				}
				return copy, nil
			}, nil)
			require.NoError(t, err)
			done()
		}
		span.End()
		var data metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &data))
		counted := map[string]int64{}
		for _, point := range data.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints {
			event, _ := point.Attributes.Value("retry.copy.event")
			name, _ := point.Attributes.Value("retry.operation")
			counted[name.AsString()+" "+event.AsString()] = point.Value
		}
		assert.Equal(t, map[string]int64{"fetch page refused": 1, "fetch page started": 2, "fetch page won": 1}, counted)
		assert.Equal(t, int64(4), before.Load())
		events := spans.Ended()[0].Events()
		require.Len(t, events, 4)
		assert.Contains(t, events[3].Attributes, attribute.Float64("retry.copy.wait", 0.06))
	})
}
