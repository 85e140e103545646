// Package plainconn gives a policy to calls on a connection that does not read it.
package plainconn

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

func dial(target string) (*grpc.ClientConn, error) {
	return grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

func checks(ctx context.Context, client healthpb.HealthClient, p retry.Policy) error {
	_, err := client.Check(ctx, nil, retrygrpc.WithPolicy(p)) // want `WithPolicy has no effect on a connection without the options of retrygrpc`
	return err
}
