package retryotel_test

import (
	"math"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhttp"
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
	shared.Part(" POST /")
	got := balances()
	assert.Equal(t, 5., got["c:443"])
	assert.Equal(t, 2., got["c:443 GET /"], "half of the tokens, less what it owes")
	assert.Len(t, got, 4)
	require.NoError(t, third.Unregister())
	_, err = i.ObserveBudget(opaque{a}, "opaque")
	assert.Error(t, err)
}

// TestObservePerHost: a host that is dropped is no longer reported, and one that comes back
// has the value of its new budget.
func TestObservePerHost(t *testing.T) {
	tel := newTelemetry()
	hosts := &retryhttp.PerHost{MaxHosts: 2}
	_, err := tel.ObservePerHost(hosts, "api")
	require.NoError(t, err)
	balances := func() map[string]float64 {
		all := map[string]float64{}
		gauge, _ := tel.metrics(t)["retry.budget.balance"].(metricdata.Gauge[float64])
		for _, p := range gauge.DataPoints {
			name, _ := p.Attributes.Value("retry.budget")
			host, _ := p.Attributes.Value("retry.budget.host")
			all[name.AsString()+" "+host.AsString()] = p.Value
		}
		return all
	}
	budget := func(host string) retry.Budget { return hosts.Budget(&url.URL{Scheme: "https", Host: host}) }
	assert.Empty(t, balances())
	for range 5 {
		budget("a").TryWithdraw(retry.Attempt{Number: 1})
	}
	budget("b")
	assert.Equal(t, map[string]float64{"api a:443": 0, "api b:443": 5}, balances())
	budget("c")
	assert.Equal(t, map[string]float64{"api b:443": 5, "api c:443": 5}, balances())
	budget("a").TryWithdraw(retry.Attempt{Number: 1})
	assert.Equal(t, map[string]float64{"api a:443": 4, "api c:443": 5}, balances())
	_, err = tel.ObservePerHost(nil, "none")
	assert.Error(t, err)
}
