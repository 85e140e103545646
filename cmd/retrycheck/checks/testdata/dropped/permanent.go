package dropped

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retryslog"
)

func logsGivenUp(ctx context.Context, p retry.Policy, op func(context.Context) error) {
	err := retry.Do(ctx, p, op)
	if err != nil {
		var failed *retry.Error
		errors.As(err, &failed) // want `a permanent failure is no \*retry.Error, so failed is nil then: use the error itself, or ask for the result of errors.As`
		slog.ErrorContext(ctx, "import failed", retryslog.Error(failed))
	}
}

func countsGivenUp(ctx context.Context, p retry.Policy, op func(context.Context) error, count func(error)) {
	err := retry.Do(ctx, p, op)
	var failed *retry.Error
	if errors.As(err, &failed) { // which compare reports
		count(failed.Reason)
	}
	err2 := retry.Do(ctx, p, op)
	if err2 != nil {
		if failed, ok := errors.AsType[*retry.Error](err2); ok { // want `a permanent failure is no \*retry.Error, so nothing notices it: handle err2 itself, too`
			count(failed)
		}
	}
}

func handlesAll(ctx context.Context, p retry.Policy, op func(context.Context) error, count func(error), verbose bool) error {
	err := retry.Do(ctx, p, op)
	var failed *retry.Error
	if errors.As(err, &failed) {
		count(failed.Reason)
	}
	if err != nil {
		return err
	}
	err = retry.Do(ctx, p, op)
	if errors.As(err, &failed) {
		count(failed.Reason)
	} else if err != nil {
		count(err)
	}
	another := retry.Do(ctx, p, op)
	if another != nil {
		if verbose {
			slog.Error("failed")
		}
		if errors.As(another, &failed) {
			count(failed.Reason)
		}
	}
	var third *retry.Error
	errors.As(another, &third)
	if third != nil {
		count(third)
	}
	return nil
}

type settings struct {
	Server string
	Retry  retryconfig.Policy
}

func reads(data []byte, args []string) (settings, error) {
	config := settings{Server: "localhost:25"}
	err := json.Unmarshal(data, &config)
	if err != nil {
		return config, err
	}
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	flags.TextVar(&config.Retry, "retry", retryconfig.Policy{}, "retry `policy`") // want `TextVar sets config.Retry to this default, which replaces what was set before: pass config.Retry itself`
	return config, flags.Parse(args)
}

func preset(args []string) (retryconfig.Policy, error) {
	var policy retryconfig.Policy
	policy.MaxAttempts = 5
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	flags.TextVar(&policy, "retry", &retryconfig.Policy{}, "retry `policy`") // want `TextVar sets policy to this default`
	return policy, flags.Parse(args)
}

func readsRight(data []byte, args []string) (settings, retryconfig.Policy, error) {
	var config settings
	config.Server = "localhost:25"
	var other retryconfig.Policy
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	flags.StringVar(&config.Server, "server", config.Server, "address")
	flags.TextVar(&other, "other", retryconfig.Policy{}, "retry `policy`")
	flags.TextVar(&config.Retry, "retry", retryconfig.Policy{Policy: retry.Policy{MaxAttempts: 5}}, "retry `policy`")
	err := json.Unmarshal(data, &config)
	if err != nil {
		return config, other, err
	}
	flags.TextVar(&config.Retry, "again", config.Retry, "retry `policy`")
	return config, other, flags.Parse(args)
}
