package retryotel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/retryotel"
)

func TestObserveGate(t *testing.T) {
	reader := sdk.NewManualReader()
	var gate admit.Gate
	observation, err := retryotel.Instrumentation{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))}.ObserveGate(&gate, "api")
	require.NoError(t, err)
	admitted := 0
	for gate.Stats().Refused == 0 {
		gate.Enter(admit.Caller{})
		admitted++
	}
	admitted--
	values := func() map[string]float64 {
		var data metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &data))
		found := map[string]float64{}
		for _, scope := range data.ScopeMetrics {
			for _, m := range scope.Metrics {
				switch d := m.Data.(type) {
				case metricdata.Gauge[float64]:
					found[m.Name] = d.DataPoints[0].Value
				case metricdata.Gauge[int64]:
					found[m.Name] = float64(d.DataPoints[0].Value)
				case metricdata.Sum[int64]:
					found[m.Name] = float64(d.DataPoints[0].Value)
					name, _ := d.DataPoints[0].Attributes.Value("admit.gate")
					assert.Equal(t, "api", name.AsString())
				}
			}
		}
		return found
	}
	assert.Equal(t, map[string]float64{
		"admit.limit": gate.Stats().Limit, "admit.in_flight": float64(admitted), "admit.own_time": 0,
		"admit.admitted": float64(admitted), "admit.refused": 1,
	}, values())
	require.NoError(t, observation.Unregister())
	assert.Empty(t, values())
}
