package retrygrpc_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/linear"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestHintsAreReadInLinearTime: what a server sends beside its code cannot keep a client
// busy.
func TestHintsAreReadInLinearTime(t *testing.T) {
	details := func(detail *anypb.Any) func(size int) (metadata.MD, error) {
		return func(size int) (metadata.MD, error) {
			s := &spb.Status{Code: int32(codes.Unavailable)}
			for range size / (2 + len(detail.GetTypeUrl()) + len(detail.GetValue())) {
				s.Details = append(s.Details, detail)
			}
			return nil, status.FromProto(s).Err()
		}
	}
	long := func(url string) func(size int) (metadata.MD, error) {
		return func(size int) (metadata.MD, error) {
			return details(&anypb.Any{TypeUrl: url, Value: []byte(strings.Repeat("\x0a\x00", size/2-20))})(size)
		}
	}
	pushback := func(values func(size int) []string) func(size int) (metadata.MD, error) {
		return func(size int) (metadata.MD, error) {
			return metadata.MD{"grpc-retry-pushback-ms": values(size)}, status.Error(codes.Unavailable, "")
		}
	}
	for name, answer := range map[string]func(size int) (metadata.MD, error){
		"empty details":       details(&anypb.Any{}),
		"details of no type":  details(&anypb.Any{TypeUrl: "/"}),
		"details of a type":   details(&anypb.Any{TypeUrl: "/google.protobuf.Empty"}),
		"broken details":      details(&anypb.Any{TypeUrl: "/google.rpc.RetryInfo", Value: []byte{10}}),
		"one long detail":     long("/google.rpc.RetryInfo"),
		"one of another type": long("/google.rpc.BadRequest"),
		"message": func(size int) (metadata.MD, error) {
			return nil, status.Error(codes.ResourceExhausted, strings.Repeat("larger than ma", size/14))
		},
		"pushback":               pushback(func(size int) []string { return []string{strings.Repeat("0", size)} }),
		"pushback, not a number": pushback(func(size int) []string { return []string{strings.Repeat("x", size)} }),
		"pushbacks":              pushback(func(size int) []string { return make([]string, size) }),
	} {
		t.Run(name, func(t *testing.T) {
			linear.Check(t, 1<<20, func(size int) func() {
				trailer, failure := answer(size)
				answering := func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, opts ...grpc.CallOption) error {
					for _, opt := range opts {
						if opt, ok := opt.(grpc.TrailerCallOption); ok {
							*opt.TrailerAddr = trailer
						}
					}
					return failure
				}
				client := retrygrpc.Client{Policy: retry.Policy{MaxAttempts: 1}, Repeatable: []string{"*"}}
				conn, err := grpc.NewClient("passthrough:///", append(client.DialOptions(),
					grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithChainUnaryInterceptor(answering))...)
				require.NoError(t, err)
				t.Cleanup(func() { _ = conn.Close() })
				return func() { _, _ = pb.NewTestServiceClient(conn).UnaryCall(context.Background(), &pb.SimpleRequest{}) }
			})
		})
	}
}
