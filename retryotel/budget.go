package retryotel

import (
	"context"
	"errors"
	"math"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// ObserveBudget reports what is left in a budget as the gauge retry.budget.balance with the
// attribute retry.budget. For a [retry.SharedBudget], it also reports what each of its parts may
// take now, with the name of the part as the attribute retry.budget.part.
//
// The budget must have a method Balance() float64. An infinite balance is not reported.
// ObserveBudget uses the MeterProvider of i. Unregister the result when the budget is no
// longer used. For the budgets of hosts, use ObservePerHost.
func (i Instrumentation) ObserveBudget(budget retry.Budget, name string) (metric.Registration, error) {
	if _, ok := budget.(balancer); !ok {
		return nil, errors.New("retryotel: a budget without the method Balance")
	}
	return i.observeBalances(func(o observer) { o.budget(budget, attribute.String("retry.budget", name)) })
}

// ObservePerHost reports what is left in the budgets of hosts, as ObserveBudget does for one,
// with the attributes retry.budget and retry.budget.host, which is name:port. Hosts that p has
// dropped are no longer reported. To observe the budgets of a Transport, set its PerHost.
func (i Instrumentation) ObservePerHost(p *retryhttp.PerHost, name string) (metric.Registration, error) {
	if p == nil {
		return nil, errors.New("retryotel: the PerHost is nil")
	}
	return i.observeBalances(func(o observer) {
		for host, budget := range p.Budgets() {
			o.budget(budget, attribute.String("retry.budget", name), attribute.String("retry.budget.host", host))
		}
	})
}

type balancer interface{ Balance() float64 }

// observeBalances registers a function that reports budgets.
func (i Instrumentation) observeBalances(report func(observer)) (metric.Registration, error) {
	meter := i.meter()
	balance, err := meter.Float64ObservableGauge("retry.budget.balance",
		metric.WithDescription("Tokens left in the budget, or retries that it allows now."))
	if err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		report(observer{o, balance})
		return nil
	}, balance)
}

type observer struct {
	metric.Observer
	balance metric.Float64Observable
}

// budget reports a budget and its parts.
func (o observer) budget(budget retry.Budget, attributes ...attribute.KeyValue) {
	if b, ok := budget.(balancer); ok {
		o.tokens(b, attributes...)
	}
	if shared, ok := budget.(*retry.SharedBudget); ok {
		for part, p := range shared.Parts() {
			o.tokens(p, append(slices.Clone(attributes), attribute.String("retry.budget.part", part))...)
		}
	}
}

func (o observer) tokens(b balancer, attributes ...attribute.KeyValue) {
	tokens := b.Balance()
	if !math.IsInf(tokens, 0) {
		o.ObserveFloat64(o.balance, tokens, metric.WithAttributeSet(attribute.NewSet(attributes...)))
	}
}
