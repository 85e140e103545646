package retryotel_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryotel"
)

// TestObserveLimiter: after one call of 400 tokens, another waits for two seconds, and a third
// still waits.
func TestObserveLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdk.NewManualReader()
		limiter := &ratelimit.Limiter{Limit: ratelimit.Limit{Rate: 200, Burst: 400}}
		observation, err := retryotel.Instrumentation{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))}.ObserveLimiter(limiter, "api")
		require.NoError(t, err)
		ctx := ratelimit.WithCost(t.Context(), 400)
		require.NoError(t, limiter.Wait(ctx))
		limiter.Hear(limiter.Begin(ctx), ratelimit.Response{OK: true, States: []ratelimit.State{{Name: "tokens", Limit: 1000, Remaining: 200, Reset: time.Hour}}})
		limiter.Hear(limiter.Begin(ctx), ratelimit.Response{OK: true, States: []ratelimit.State{{Name: "requests", Limit: 60, Remaining: 59, Reset: time.Minute}}})
		require.NoError(t, limiter.Wait(ctx))
		waiting, cancel := context.WithCancel(ctx)
		go limiter.Wait(waiting)
		synctest.Wait()

		var data metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &data))
		found := map[string]float64{}
		note := func(name string, limit string, value float64) { found[name+" "+limit] = value }
		for _, m := range data.ScopeMetrics[0].Metrics {
			switch d := m.Data.(type) {
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					limit, _ := p.Attributes.Value("retry.limit")
					note(m.Name, limit.AsString(), p.Value)
				}
			case metricdata.Gauge[int64]:
				note(m.Name, "", float64(d.DataPoints[0].Value))
			case metricdata.Sum[int64]:
				note(m.Name, "", float64(d.DataPoints[0].Value))
			case metricdata.Sum[float64]:
				note(m.Name, "", d.DataPoints[0].Value)
			}
		}
		assert.Equal(t, map[string]float64{
			"retry.limit.size tokens": 1000, "retry.limit.remaining tokens": 0,
			"retry.limit.size requests": 60, "retry.limit.remaining requests": 57,
			"retry.limit.waiting ": 1, "retry.limit.waits ": 1, "retry.limit.waited ": 2,
		}, found)
		cancel()
		require.NoError(t, observation.Unregister())
	})
}
