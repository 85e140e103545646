// Package ready waits for a connection without an end.
package ready

import (
	"context"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

func options() []grpc.DialOption {
	client := retrygrpc.Client{Policy: retry.Policy{MaxElapsed: time.Minute}}
	return client.DialOptions()
}

func waits(ctx context.Context, client healthpb.HealthClient) error {
	_, err := client.Check(context.Background(), nil, grpc.WaitForReady(true)) // want `an attempt that waits for a connection has no time limit, which MaxElapsed does not end`
	if err != nil {
		return err
	}
	endless, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err = client.Check(endless, nil, grpc.WaitForReady(true)) // want `an attempt that waits for a connection has no time limit`
	if err != nil {
		return err
	}
	_, err = client.Check(endless, nil, grpc.WaitForReady(false))
	if err != nil {
		return err
	}
	limited, cancelLimited := context.WithTimeout(endless, time.Minute)
	defer cancelLimited()
	_, err = client.Check(limited, nil, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	_, err = client.Check(ctx, nil, grpc.WaitForReady(true)) // whose deadline is not in sight
	return err
}
