package retrygrpc_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry/internal/memnet"
)

// The methods of the service retry.test.Levels: Pay has no idempotency_level. Each
// exists in four kinds, such as Pay, PayDown (a server stream), PayUp and PayBoth.
var levelOf = map[string]descriptorpb.MethodOptions_IdempotencyLevel{
	"Pay": descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN,
	"Put": descriptorpb.MethodOptions_IDEMPOTENT,
	"Get": descriptorpb.MethodOptions_NO_SIDE_EFFECTS,
}

const levels = "retry.test.Levels"

var kinds = []grpc.StreamDesc{{StreamName: ""}, {StreamName: "Down", ServerStreams: true}, {StreamName: "Up", ClientStreams: true}, {StreamName: "Both", ServerStreams: true, ClientStreams: true}}

// init registers the descriptor, as generated code does.
func init() {
	service := &descriptorpb.ServiceDescriptorProto{Name: new("Levels")}
	for name, level := range levelOf {
		for _, kind := range kinds {
			method := &descriptorpb.MethodDescriptorProto{
				Name: new(name + kind.StreamName), InputType: new(".google.protobuf.BytesValue"), OutputType: new(".google.protobuf.BytesValue"),
				ClientStreaming: new(kind.ClientStreams), ServerStreaming: new(kind.ServerStreams),
			}
			if level != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN {
				method.Options = &descriptorpb.MethodOptions{IdempotencyLevel: level.Enum()}
			}
			service.Method = append(service.Method, method)
		}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("retry/test/levels.proto"), Package: new("retry.test"), Syntax: new("proto3"),
		Dependency: []string{"google/protobuf/wrappers.proto"}, Service: []*descriptorpb.ServiceDescriptorProto{service},
	}, protoregistry.GlobalFiles)
	if err == nil {
		err = protoregistry.GlobalFiles.RegisterFile(file)
	}
	if err != nil {
		panic(err)
	}
}

// A point is a moment of an execution at which a fault is injected.
type point string

const (
	atBegin      point = "begin"
	afterRead    point = "requests"      // the first has been read
	afterAll     point = "all requests"  // have been read
	afterHeaders point = "headers"       // have been sent
	afterMessage point = "first message" // has been sent
)

// A levelServer counts executions by the metadata key id.
type levelServer struct {
	fault func(ctx context.Context, id string, execution int, at point) error

	mu         sync.Mutex
	executions map[string]int
}

func (s *levelServer) of(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.executions[id]
}

// handle returns the bytes of all requests, one message per request if it may.
func (s *levelServer) handle(_ any, stream grpc.ServerStream) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	id := md["id"][0]
	s.mu.Lock()
	s.executions[id]++
	n := s.executions[id]
	s.mu.Unlock()
	method, _ := grpc.MethodFromServerStream(stream)
	fault := func(at point) error { return s.fault(stream.Context(), id, n, at) }
	if err := fault(atBegin); err != nil {
		return err
	}
	var all []byte
	for read := 0; ; read++ {
		var m wrapperspb.BytesValue
		if err := stream.RecvMsg(&m); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		all = append(all, m.GetValue()...)
		if err := fault(afterRead); read == 0 && err != nil {
			return err
		}
		if strings.HasSuffix(method, "Both") {
			if err := stream.SendMsg(&m); err != nil {
				return err
			}
			if err := fault(afterMessage); read == 0 && err != nil {
				return err
			}
		}
	}
	if err := fault(afterAll); err != nil {
		return err
	}
	if strings.HasSuffix(method, "Both") {
		return nil
	}
	if err := fault(afterHeaders); err != nil {
		_ = stream.SendHeader(nil)
		return err
	}
	if err := stream.SendMsg(&wrapperspb.BytesValue{Value: all}); err != nil {
		return err
	}
	return fault(afterMessage)
}

func (s *levelServer) serve(t testing.TB, l net.Listener, options ...grpc.ServerOption) string {
	t.Helper()
	s.executions = map[string]int{}
	desc := grpc.ServiceDesc{ServiceName: levels, HandlerType: (*any)(nil)}
	for name := range levelOf {
		for _, kind := range kinds {
			kind.StreamName, kind.Handler = name+kind.StreamName, s.handle
			kind.ServerStreams, kind.ClientStreams = true, true // a unary call is a stream of one message
			desc.Streams = append(desc.Streams, kind)
		}
	}
	g := grpc.NewServer(options...)
	g.RegisterService(&desc, s)
	return serve(t, g, l)
}

// inMemory serves on a network in memory, for tests in virtual time.
func (s *levelServer) inMemory(t testing.TB, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	network := memnet.New()
	s.serve(t, network)
	return dialMemory(t, network, options...)
}

func connect(t testing.TB, address string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func withID(ctx context.Context, id string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "id", id)
}
