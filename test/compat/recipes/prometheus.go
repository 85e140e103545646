package recipes

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gobackoff/retry"
)

// Metrics counts the attempts, waits and give-ups of operations.
type Metrics struct {
	attempts, giveUps *prometheus.CounterVec
	delay             *prometheus.HistogramVec
}

func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "retry_attempts_total", Help: "Attempts, the first included, by outcome.",
		}, []string{"operation", "outcome"}),
		giveUps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "retry_give_ups_total", Help: "Calls that failed, by reason.",
		}, []string{"operation", "reason"}),
		delay: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "retry_delay_seconds", Help: "Waits before retries.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 60, 300},
		}, []string{"operation"}),
	}
	registry.MustRegister(m.attempts, m.giveUps, m.delay)
	return m
}

// Hooks returns the hooks of one operation: policy.With(metrics.Hooks("fetch page")).
func (m *Metrics) Hooks(operation string) retry.Hooks {
	return retry.Hooks{
		OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
			return ctx, func(a retry.Attempt) {
				outcome := "success"
				if a.Err != nil {
					outcome = a.Class.String()
				}
				m.attempts.WithLabelValues(operation, outcome).Inc()
			}
		},
		OnRetry: func(_ context.Context, _ retry.Attempt, wait time.Duration) {
			m.delay.WithLabelValues(operation).Observe(wait.Seconds())
		},
		OnGiveUp: func(_ context.Context, e *retry.Error) {
			m.giveUps.WithLabelValues(operation, e.ReasonLabel()).Inc()
		},
	}
}
