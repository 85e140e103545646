package retrygrpc_test

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/vectors"
	"github.com/gobackoff/retry/retrygrpc"
	"github.com/gobackoff/retry/retrytest"
)

// vectorMethod is an idempotent method, so that only its status decides about a retry.
const vectorMethod = "/retry.vectors.Service/Get"

// vectorServer answers calls of vectorMethod with a code and a trailer, and counts them.
func vectorServer(t *testing.T, code codes.Code, trailer metadata.MD) (address string, calls *atomic.Int64) {
	t.Helper()
	if _, err := protoregistry.GlobalFiles.FindDescriptorByName("retry.vectors.Service"); err != nil {
		method := &descriptorpb.MethodDescriptorProto{
			Name: new("Get"), InputType: new(".google.protobuf.Empty"), OutputType: new(".google.protobuf.Empty"),
			Options: &descriptorpb.MethodOptions{IdempotencyLevel: descriptorpb.MethodOptions_IDEMPOTENT.Enum()},
		}
		file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
			Name: new("retry/vectors.proto"), Package: new("retry.vectors"), Dependency: []string{"google/protobuf/empty.proto"},
			Service: []*descriptorpb.ServiceDescriptorProto{{Name: new("Service"), Method: []*descriptorpb.MethodDescriptorProto{method}}},
		}, protoregistry.GlobalFiles)
		require.NoError(t, err)
		require.NoError(t, protoregistry.GlobalFiles.RegisterFile(file))
	}
	calls = new(atomic.Int64)
	s := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		calls.Add(1)
		stream.SetTrailer(trailer)
		return status.Error(code, "")
	}))
	return serve(t, s, nil), calls
}

func callVectorMethod(t *testing.T, address string, options ...grpc.DialOption) error {
	t.Helper()
	conn, err := grpc.NewClient(address, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	defer conn.Close()
	return conn.Invoke(t.Context(), vectorMethod, &emptypb.Empty{}, &emptypb.Empty{})
}

// TestClassifyVectors: this package and grpc-go with its service config retry the codes
// that gRPC proposal A6 says. Which requests never leave a client cannot be seen here.
func TestClassifyVectors(t *testing.T) {
	type given struct {
		Code, Failure string
		Retryable     []string `json:"retryable_codes"`
	}
	classes := map[bool]string{true: "transient", false: "permanent"}
	r := vectors.Check(t, "classify/grpc-a6", func(_ string, c given) any {
		switch c.Failure {
		case "not-sent":
			return nil
		case "http2-refused":
			return map[string]any{"class": classes[refusedStreams(t) == 2], "counted": false}
		}
		p := retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(time.Millisecond), Clock: &retrytest.Clock{}, Hint: retry.HintIgnore{}}
		p.Classifier = retry.ClassifierFunc(func(err error) retry.Verdict {
			for _, name := range c.Retryable {
				if codeNamed(t, name) == status.Code(err) {
					return retry.Verdict{Class: retry.ClassTransient}
				}
			}
			return retry.Verdict{Class: retry.ClassPermanent}
		})
		config, _, err := retrygrpc.ServiceConfig(p, "*")
		require.NoError(t, err)
		var answers []string
		for _, options := range [][]grpc.DialOption{retrygrpc.DialOptions(p), {grpc.WithDefaultServiceConfig(config)}} {
			address, calls := vectorServer(t, codeNamed(t, c.Code), nil)
			assert.Equal(t, codeNamed(t, c.Code), status.Code(callVectorMethod(t, address, options...)))
			answers = append(answers, classes[calls.Load() == 2])
		}
		assert.Equal(t, answers[0], answers[1], "grpc-go: %v", c)
		return map[string]string{"class": answers[0]}
	})
	assert.Equal(t, 1, r.Skipped)
	assert.Equal(t, r.Answers.All, r.Answers.Of, "%v", r)
}

func codeNamed(t *testing.T, name string) (code codes.Code) {
	t.Helper()
	require.NoError(t, code.UnmarshalJSON([]byte(strconv.Quote(name))))
	return code
}

// refusedStreams returns how often a client with a policy of one attempt sends a request
// that its server refuses to process: more often than once if this is not an attempt.
func refusedStreams(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var streams atomic.Int64
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		preface := make([]byte, len(http2.ClientPreface))
		_, _ = io.ReadFull(conn, preface)
		framer := http2.NewFramer(conn, conn)
		_ = framer.WriteSettings()
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if frame, ok := frame.(*http2.HeadersFrame); ok {
				streams.Add(1)
				_ = framer.WriteRSTStream(frame.StreamID, http2.ErrCodeRefusedStream)
			}
		}
	}()
	assert.Error(t, callVectorMethod(t, l.Addr().String(), retrygrpc.DialOptions(retry.Policy{MaxAttempts: 1})...))
	return int(streams.Load())
}

// exactly is the hint rule of gRPC proposal A6.
type exactly struct{}

func (exactly) Wait(_, hint time.Duration) (time.Duration, bool) { return hint, true }

// TestHintVectors: hint rules get the pushback. A pushback of 0 asks for no wait, but a
// policy keeps its own delay then; by default, it waits for the longer one anyway.
func TestHintVectors(t *testing.T) {
	type given struct {
		Headers map[string]string
		Delay   float64 `json:"delay_ms"`
	}
	r := vectors.Check(t, "hint/grpc-a6", func(_ string, c given) any {
		if c.Headers["grpc-retry-pushback-ms"] == "0" && c.Delay > 0 {
			return nil
		}
		address, calls := vectorServer(t, codes.Unavailable, metadata.New(c.Headers))
		wait := time.Duration(-1)
		p := retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(time.Duration(c.Delay * 1e6)), Clock: &retrytest.Clock{}, Hint: exactly{}}
		p.OnRetry = func(_ context.Context, _ retry.Attempt, w time.Duration) { wait = w }
		err := callVectorMethod(t, address, retrygrpc.DialOptions(p)...)
		assert.True(t, strings.Contains(err.Error(), "2 attempts") && calls.Load() == 2, "%v", err)
		return map[string]float64{"wait_ms": float64(wait) / 1e6}
	})
	assert.Equal(t, 1, r.Skipped)
	assert.Equal(t, r.Answers.All, r.Answers.Of, "%v", r)
}
