package recipes

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

func TestPrometheus(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics := NewMetrics(registry)
	policy := retry.Policy{Backoff: retry.Constant(time.Second), Clock: &retrytest.Clock{}}.With(metrics.Hooks("fetch page"))
	assert.NoError(t, retry.Do(t.Context(), policy, retrytest.Script(errOp, retry.Throttled(errOp), nil).Run))
	assert.Error(t, retry.Do(t.Context(), policy, retrytest.Script(errOp).Run))
	families, err := registry.Gather()
	require.NoError(t, err)
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var key strings.Builder
			key.WriteString(family.GetName())
			for _, label := range m.GetLabel() {
				key.WriteString(" " + label.GetValue())
			}
			got[key.String()] = m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum()
		}
	}
	assert.Equal(t, map[string]float64{
		"retry_attempts_total fetch page success":   1,
		"retry_attempts_total fetch page throttled": 1,
		"retry_attempts_total fetch page unknown":   4,
		"retry_delay_seconds fetch page":            4,
		"retry_give_ups_total fetch page attempts":  1,
	}, got)
}
