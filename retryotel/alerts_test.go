package retryotel_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// series returns the names that Prometheus has for the metrics, with their labels.
func (tel *telemetry) series(t *testing.T) map[string][]attribute.Key {
	all := map[string][]attribute.Key{}
	for name, data := range tel.metrics(t) {
		name = strings.ReplaceAll(name, ".", "_")
		switch data := data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				for _, kv := range p.Attributes.ToSlice() {
					all[name+"_total"] = append(all[name+"_total"], kv.Key)
				}
			}
		case metricdata.Histogram[float64]:
			for _, suffix := range []string{"_seconds_bucket", "_seconds_count", "_seconds_sum"} {
				for _, kv := range data.DataPoints[0].Attributes.ToSlice() {
					all[name+suffix] = append(all[name+suffix], kv.Key)
				}
			}
			for _, bound := range data.DataPoints[0].Bounds {
				all["bounds"] = append(all["bounds"], attribute.Key(fmt.Sprint(bound)))
			}
		}
	}
	return all
}

// TestAlerts: the alert rules in docs/telemetry.md use metrics, labels, reasons and bounds
// that exist.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("../docs/telemetry.md")
	require.NoError(t, err)
	tel := newTelemetry()
	assert.Error(t, retry.Do(t.Context(), tel.Instrument(seconds, "fetch page"), retrytest.Script(errOp, errOp, errOp).Run))
	series := tel.series(t)
	rules := strings.Split(string(text), "- alert: ")[1:]
	require.Len(t, rules, 4)
	labels := map[string]bool{"retry_operation": true}
	for _, key := range series["retry_give_ups_total"] {
		labels[strings.ReplaceAll(string(key), ".", "_")] = true
	}
	var known []string
	for _, reason := range []error{retry.ErrPermanent, retry.ErrBudget, context.Canceled} {
		known = append(known, (&retry.Error{Reason: reason}).ReasonLabel())
	}
	for _, rule := range rules {
		expr, _, _ := strings.Cut(rule, "for:")
		used := regexp.MustCompile(`\bretry_\w+`).FindAllString(expr, -1)
		assert.NotEmpty(t, used)
		for _, name := range used {
			assert.True(t, labels[name] || series[name] != nil, name)
		}
		for _, reasons := range regexp.MustCompile(`retry_reason[!=~]+"(.*?)"`).FindAllStringSubmatch(expr, -1) {
			for reason := range strings.SplitSeq(reasons[1], "|") {
				assert.Contains(t, known, reason)
			}
		}
	}
	_, bounds, found := strings.Cut(string(text), "a bound of the histogram: ")
	require.True(t, found)
	bounds, _, _ = strings.Cut(bounds, " seconds.")
	var documented []attribute.Key
	for bound := range strings.SplitSeq(strings.ReplaceAll(bounds, " or ", ", "), ", ") {
		documented = append(documented, attribute.Key(bound))
	}
	assert.Equal(t, documented, series["bounds"])
}
