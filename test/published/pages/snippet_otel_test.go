package pages

import (
	"context"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryotel"
)

var _ = []any{instrumented, observed}

func instrumented(ctx context.Context, requests retry.Policy, load func(context.Context) error) error {
	policy := retryotel.Instrument(requests, "fetch page") // once, when the program starts
	err := retry.Do(ctx, policy, load)
	return err
}

func observed(requests retry.Policy) error {
	var telemetry retryotel.Instrumentation // with the global providers
	_, err := telemetry.ObserveBudget(requests.Budget, "catalog")
	return err
}
