package retryotel_test

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryotel"
)

type opaque struct{ retry.Budget }

func TestObserveBudget(t *testing.T) {
	reader := sdk.NewManualReader()
	i := retryotel.Instrumentation{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))}
	balances := func() map[string]float64 {
		var data metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &data))
		found := map[string]float64{}
		for _, scope := range data.ScopeMetrics {
			for _, m := range scope.Metrics {
				assert.Equal(t, "retry.budget.balance", m.Name)
				for _, p := range m.Data.(metricdata.Gauge[float64]).DataPoints {
					name, _ := p.Attributes.Value("retry.budget")
					part, _ := p.Attributes.Value("retry.budget.part")
					found[name.AsString()+part.AsString()] = p.Value
				}
			}
		}
		return found
	}
	a := &awspreset.TokenBudget{}
	first, err := i.ObserveBudget(a, "a:443")
	require.NoError(t, err)
	_, err = i.ObserveBudget(&awspreset.TokenBudget{Capacity: 7}, "b:443")
	require.NoError(t, err)
	_, err = i.ObserveBudget(&retry.SharedBudget{Reserve: math.Inf(1)}, "no bound")
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"a:443": 500, "b:443": 7}, balances())
	a.TryWithdraw(retry.Attempt{Number: 1})
	a.TryWithdraw(retry.Attempt{Number: 1})
	assert.Equal(t, map[string]float64{"a:443": 472, "b:443": 7}, balances())
	require.NoError(t, first.Unregister())
	assert.Equal(t, map[string]float64{"b:443": 7}, balances())

	shared := &retry.SharedBudget{Reserve: 6}
	third, err := i.ObserveBudget(shared, "c:443")
	require.NoError(t, err)
	shared.Part(" GET /").TryWithdraw(retry.Attempt{Number: 1})
	for n := 0; len(maps.Collect(shared.Parts())) < 2; n++ {
		shared.Part(fmt.Sprint(" ", n))
	}
	got := balances()
	assert.Equal(t, 5., got["c:443"])
	assert.Equal(t, 2., got["c:443 GET /"], "half of the tokens, less what it owes")
	assert.Len(t, got, 4)
	require.NoError(t, third.Unregister())
	_, err = i.ObserveBudget(opaque{a}, "opaque")
	assert.Error(t, err)
}
