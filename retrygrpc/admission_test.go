package retrygrpc_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/retrygrpc"
)

// stopped is the clock of a gate that does not measure how fast the machine is.
func stopped() time.Time { return time.Unix(0, 0) }

// occupy takes all places of a gate and returns their tickets.
func occupy(gate *admit.Gate) (tickets []admit.Ticket) {
	for {
		ticket, err := gate.Enter(admit.Caller{})
		if err != nil {
			return tickets
		}
		tickets = append(tickets, ticket)
	}
}

func serveAdmitted(t *testing.T, a *retrygrpc.Admission, s *server) string {
	t.Helper()
	g := grpc.NewServer(a.ServerOptions()...)
	pb.RegisterTestServiceServer(g, s)
	return serve(t, g, nil)
}

// TestAdmissionRefusal: what a client sees of a refusal.
func TestAdmissionRefusal(t *testing.T) {
	for _, test := range []struct {
		name   string
		code   codes.Code
		expect codes.Code
	}{
		{"default", codes.OK, codes.Unavailable},
		{"throttling", codes.ResourceExhausted, codes.ResourceExhausted},
	} {
		t.Run(test.name, func(t *testing.T) {
			gate := &admit.Gate{Now: stopped, Rand: func() float64 { return 0.25 }}
			occupy(gate)
			s := &server{unary: failing(0, nil)}
			skip := func(method string) bool { return strings.HasSuffix(method, "EmptyCall") }
			address := serveAdmitted(t, &retrygrpc.Admission{Gate: gate, Code: test.code, Skip: skip}, s)
			client := dial(t, address, grpc.WithDisableRetry())
			var trailer metadata.MD
			_, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{}, grpc.Trailer(&trailer))
			require.Equal(t, test.expect, status.Code(err))
			assert.Equal(t, []string{"2000"}, trailer["grpc-retry-pushback-ms"])
			info, _ := status.Convert(err).Details()[0].(*errdetails.RetryInfo)
			assert.Equal(t, 2*time.Second, info.GetRetryDelay().AsDuration())
			stream, err := client.StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
			require.NoError(t, err)
			_, err = stream.Recv()
			assert.Equal(t, test.expect, status.Code(err))
			assert.Zero(t, s.hits())
			_, err = client.EmptyCall(t.Context(), &pb.Empty{})
			assert.Equal(t, codes.Unimplemented, status.Code(err), "a skipped method reaches the server")
		})
	}
}

// TestAdmissionClients: grpc-go with a retryPolicy, and this package, come back when the
// server asks them to.
func TestAdmissionClients(t *testing.T) {
	const config = `{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "600s",
		"maxBackoff": "600s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`
	for name, options := range map[string][]grpc.DialOption{
		"grpc-go":   {grpc.WithDefaultServiceConfig(config)},
		"retrygrpc": retrygrpc.Client{Policy: retry.Policy{Backoff: retry.NoDelay{}}, TrustPushback: true}.DialOptions(),
	} {
		t.Run(name, func(t *testing.T) {
			gate := &admit.Gate{Now: stopped, Return: 5 * time.Millisecond}
			tickets := occupy(gate)
			refusals := 0
			gate.OnRefuse = func(admit.Refused) {
				refusals++
				gate.Leave(tickets[0])
			}
			s := &server{unary: failing(0, nil)}
			client := dial(t, serveAdmitted(t, &retrygrpc.Admission{Gate: gate}, s), options...)
			_, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{})
			require.NoError(t, err)
			assert.Equal(t, 1, refusals)
			assert.Equal(t, 1, s.hits())
		})
	}
}

// TestAdmissionStream: a stream counts until its first message.
func TestAdmissionStream(t *testing.T) {
	gate := admit.Gate{Now: stopped}
	inFlight := make(chan int, 2)
	s := &server{stream: func(_ int, stream grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error {
		inFlight <- gate.Stats().InFlight
		if err := stream.Send(&pb.StreamingOutputCallResponse{}); err != nil {
			return err
		}
		inFlight <- gate.Stats().InFlight
		return nil
	}}
	a := &retrygrpc.Admission{Gate: &gate, Share: func(context.Context, string) float64 { return 0.5 }}
	stream, err := dial(t, serveAdmitted(t, a, s)).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	assert.Equal(t, 1, <-inFlight)
	assert.Equal(t, 0, <-inFlight)
}
