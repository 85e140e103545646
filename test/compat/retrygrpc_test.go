package compat

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

type grpcServer struct {
	pb.UnimplementedTestServiceServer
}

func (grpcServer) UnaryCall(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return &pb.SimpleResponse{}, nil
}

// BenchmarkUnary compares a successful call with and without retries, on a no-op invoker and
// on a real server.
func BenchmarkUnary(b *testing.B) {
	variants := []struct {
		name    string
		options []grpc.DialOption
	}{
		{"none", nil},
		{"retrygrpc", retrygrpc.DialOptions(retry.Policy{})},
		{"retrygrpc with AttemptTimeout", retrygrpc.DialOptions(retry.Policy{AttemptTimeout: time.Minute})},
		{"go-grpc-middleware", []grpc.DialOption{grpc.WithUnaryInterceptor(middleware.UnaryClientInterceptor(middleware.WithMax(3)))}},
		{"go-grpc-middleware with timeout", []grpc.DialOption{grpc.WithUnaryInterceptor(middleware.UnaryClientInterceptor(middleware.WithMax(3), middleware.WithPerRetryTimeout(time.Minute)))}},
	}
	// The innermost interceptor responds, so only the code above it is measured.
	respond := grpc.WithChainUnaryInterceptor(func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
		return nil
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := grpc.NewServer()
	pb.RegisterTestServiceServer(server, grpcServer{})
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	for _, real := range []bool{false, true} {
		for _, v := range variants {
			b.Run(fmt.Sprintf("server=%t/%s", real, v.name), func(b *testing.B) {
				options := append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, v.options...)
				if !real {
					options = append(options, respond)
				}
				conn, err := grpc.NewClient(listener.Addr().String(), options...)
				require.NoError(b, err)
				defer conn.Close()
				c, req := pb.NewTestServiceClient(conn), &pb.SimpleRequest{}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.UnaryCall(b.Context(), req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
