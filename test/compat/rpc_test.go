package compat

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry"
)

var rpcClasses = map[codes.Code]retry.Class{
	codes.Canceled: permanent, codes.Unknown: unknown, codes.InvalidArgument: permanent, codes.DeadlineExceeded: timeout,
	codes.NotFound: permanent, codes.AlreadyExists: permanent, codes.PermissionDenied: permanent,
	codes.ResourceExhausted: throttled, codes.FailedPrecondition: permanent, codes.Aborted: transient,
	codes.OutOfRange: permanent, codes.Unimplemented: permanent, codes.Internal: transient,
	codes.Unavailable: transient, codes.DataLoss: permanent, codes.Unauthenticated: permanent,
}

// retryInfo returns an error detail with retryDelay.
func retryInfo() *errdetails.RetryInfo {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(7*time.Second + 5*time.Millisecond)}
}

const retryDelay = 7*time.Second + 5*time.Millisecond

// failingHealth fails each check with the code in the service name.
type failingHealth struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (failingHealth) Check(_ context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if r.Service == "hint" {
		help := &errdetails.Help{Links: []*errdetails.Help_Link{{Description: "not a hint"}}}
		s, err := status.New(codes.Unavailable, "later").WithDetails(help, retryInfo())
		return nil, errors.Join(err, s.Err())
	}
	code, err := strconv.Atoi(r.Service)
	if err != nil {
		return nil, err
	}
	return nil, status.Error(codes.Code(code), "no")
}

func grpcFaults(t *testing.T) []fault {
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, failingHealth{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	dialer := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	call := func(service string, options ...grpc.DialOption) error {
		conn, err := grpc.NewClient("passthrough:///127.0.0.1:1",
			append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
		require.NoError(t, err)
		defer conn.Close()
		_, err = grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		return err
	}
	faults := []fault{
		{name: "no connection", err: call("1"), class: transient},
		{name: "with RetryInfo", err: call("hint", dialer), class: transient, hint: retryDelay},
		{name: "message that is too large", err: call("1", dialer, grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(1))), class: permanent},
		{name: "type with a `codes.Code`, NotFound", err: coded{code: codes.NotFound}, class: permanent},
		{name: "type with a `codes.Code`, Unavailable", err: &coded{code: codes.Unavailable}, class: transient},
		{name: "type with a `*status.Status`, NotFound", err: embedsStatus{status.New(codes.NotFound, "no")}, class: permanent},
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		faults = append(faults, fault{name: code.String(), err: call(fmt.Sprint(uint32(code)), dialer), class: rpcClasses[code]})
	}
	return faults
}

// A coded is an error with a code of gRPC, as many servers have.
type coded struct{ code codes.Code }

func (coded) Error() string                { return "coded" }
func (c coded) GRPCStatus() *status.Status { return status.New(c.code, "coded") }

// A embedsStatus is an error with a status of gRPC, which it embeds.
type embedsStatus struct{ *status.Status }

func (embedsStatus) Error() string                { return "status" }
func (e embedsStatus) GRPCStatus() *status.Status { return e.Status }

func connectFaults(t *testing.T) []fault {
	handler := connect.NewUnaryHandler("/test/fail", func(_ context.Context, r *connect.Request[wrapperspb.UInt32Value]) (*connect.Response[wrapperspb.UInt32Value], error) {
		if r.Msg.Value != 0 {
			return nil, connect.NewError(connect.Code(r.Msg.Value), errors.New("no"))
		}
		e := connect.NewError(connect.CodeUnavailable, errors.New("later"))
		for _, message := range []proto.Message{&errdetails.Help{}, retryInfo()} {
			detail, err := connect.NewErrorDetail(message)
			if err != nil {
				return nil, err
			}
			e.AddDetail(detail)
		}
		return nil, e
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	call := func(code codes.Code, options ...connect.ClientOption) error {
		client := connect.NewClient[wrapperspb.UInt32Value, wrapperspb.UInt32Value](http.DefaultClient, server.URL+"/test/fail", options...)
		_, err := client.CallUnary(t.Context(), connect.NewRequest(wrapperspb.UInt32(uint32(code))))
		return err
	}
	faults := []fault{
		{name: "with RetryInfo", err: call(codes.OK), class: transient, hint: retryDelay},
		{name: "with RetryInfo over gRPC-Web", err: call(codes.OK, connect.WithGRPCWeb()), class: transient, hint: retryDelay},
		{name: "message that is too large", err: call(codes.NotFound, connect.WithReadMaxBytes(1)), class: permanent},
		{name: "request that is too large", err: call(codes.NotFound, connect.WithSendMaxBytes(1)), class: permanent},
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		faults = append(faults, fault{name: connect.Code(code).String(), err: call(code), class: rpcClasses[code]})
	}
	server.Close()
	return append(faults, fault{name: "no connection", err: call(codes.Internal), class: transient})
}
