package retryotel

import (
	"context"
	"errors"
	"math"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gobackoff/retry"
)

// ObserveBudget reports what is left in a budget, such as that of a host in a PerHost of
// package retryhttp, as the gauge retry.budget.balance with the attribute retry.budget. For a
// [retry.SharedBudget], it also reports what each of its parts may take now, with the first
// name of the part as the attribute retry.budget.part.
//
// The budget must have a method Balance() float64. An infinite balance is not reported.
// ObserveBudget uses the MeterProvider of i. Unregister the result when the budget is no
// longer used.
func (i Instrumentation) ObserveBudget(budget retry.Budget, name string) (metric.Registration, error) {
	balancer, ok := budget.(interface{ Balance() float64 })
	if !ok {
		return nil, errors.New("retryotel: a budget without the method Balance")
	}
	meter := i.meter()
	balance, err := meter.Float64ObservableGauge("retry.budget.balance",
		metric.WithDescription("Tokens left in the budget, or retries that it allows now."))
	if err != nil {
		return nil, err
	}
	whole := attribute.String("retry.budget", name)
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		observe := func(tokens float64, attributes ...attribute.KeyValue) {
			if !math.IsInf(tokens, 0) {
				o.ObserveFloat64(balance, tokens, metric.WithAttributeSet(attribute.NewSet(attributes...)))
			}
		}
		observe(balancer.Balance(), whole)
		if shared, ok := budget.(*retry.SharedBudget); ok {
			for part, p := range shared.Parts() {
				observe(p.Balance(), whole, attribute.String("retry.budget.part", part))
			}
		}
		return nil
	}, balance)
}
