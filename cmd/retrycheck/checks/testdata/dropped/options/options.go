// Package options makes a connection with options that it gets.
package options

import (
	"context"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

func dial(target string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	return grpc.NewClient(target, options...)
}

func checks(ctx context.Context, client healthpb.HealthClient, p retry.Policy) error {
	_, err := client.Check(ctx, nil, retrygrpc.WithPolicy(p))
	return err
}
