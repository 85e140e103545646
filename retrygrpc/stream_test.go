package retrygrpc_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
)

type outStream = grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]

func message(body string) *pb.StreamingOutputCallResponse {
	return &pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: []byte(body)}}
}

func receiveAll(t *testing.T, stream grpc.ServerStreamingClient[pb.StreamingOutputCallResponse]) (bodies string, err error) {
	t.Helper()
	for {
		m, err := stream.Recv()
		if err != nil {
			return bodies, err
		}
		bodies += string(m.GetPayload().GetBody())
	}
}

// TestStream: a stream is retried until its first message arrives.
func TestStream(t *testing.T) {
	for name, tt := range map[string]struct {
		script func(n int, s outStream) error
		bodies string
		err    codes.Code // OK: io.EOF
		hits   int
	}{
		"at once": {func(_ int, s outStream) error { return s.Send(message("a")) }, "a", codes.OK, 1},
		"fails before the first message": {func(n int, s outStream) error {
			if n < 3 {
				return unavailable
			}
			_ = s.Send(message("a"))
			return s.Send(message("b"))
		}, "ab", codes.OK, 3},
		"headers are not a message": {func(n int, s outStream) error {
			_ = s.SendHeader(metadata.Pairs("k", "v"))
			if n < 2 {
				return unavailable
			}
			return s.Send(message("a"))
		}, "a", codes.OK, 2},
		"fails after the first message": {func(_ int, s outStream) error {
			_ = s.Send(message("a"))
			return unavailable
		}, "a", codes.Unavailable, 1},
		"an empty stream is a success": {func(int, outStream) error { return nil }, "", codes.OK, 1},
		"permanent":                    {func(int, outStream) error { return status.Error(codes.NotFound, "") }, "", codes.NotFound, 1},
		"gives up":                     {func(int, outStream) error { return unavailable }, "", codes.Unavailable, 4},
		"pushback -1": {func(_ int, s outStream) error {
			s.SetTrailer(metadata.Pairs("grpc-retry-pushback-ms", "-1"))
			return unavailable
		}, "", codes.Unavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{stream: tt.script}
			stream, err := newClient(t, s, quick).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
			require.NoError(t, err)
			bodies, err := receiveAll(t, stream)
			assert.Equal(t, tt.bodies, bodies)
			if tt.err == codes.OK {
				assert.Equal(t, io.EOF, err)
			}
			assert.Equal(t, tt.hits, s.hits())
			_, again := stream.Recv()
			if tt.err != codes.OK {
				assert.Equal(t, tt.err, status.Code(err))
				assert.Equal(t, tt.err, status.Code(again))
			}
			if tt.hits == 4 {
				assert.Equal(t, [][]string{nil, {"1"}, {"2"}, {"3"}}, s.previous())
				assert.ErrorIs(t, err, retry.ErrMaxAttempts)
			}
		})
	}
}

// TestStreamPushbackZero: as for unary calls.
func TestStreamPushbackZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{stream: func(n int, s outStream) error {
			if n > 2 {
				return s.Send(message("a"))
			}
			s.SetTrailer(metadata.Pairs("grpc-retry-pushback-ms", "0"))
			return unavailable
		}}
		began := time.Now()
		stream, err := newVirtualClient(t, s, retry.Policy{Backoff: retry.Constant(time.Minute)}).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
		require.NoError(t, err)
		bodies, err := receiveAll(t, stream)
		assert.Equal(t, io.EOF, err)
		assert.Equal(t, "a", bodies)
		assert.Zero(t, time.Since(began))
	})
}

// TestStreamBegins: the server gets the request before the caller calls Recv.
func TestStreamBegins(t *testing.T) {
	begun := make(chan struct{})
	s := &server{stream: func(_ int, s outStream) error {
		close(begun)
		return s.Send(message("a"))
	}}
	stream, err := newClient(t, s, quick).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
	require.NoError(t, err)
	<-begun
	assert.Nil(t, stream.Trailer(), "no trailer before the stream ends")
	assert.NotNil(t, stream.Context())
	bodies, err := receiveAll(t, stream)
	assert.Equal(t, "a", bodies)
	assert.Equal(t, io.EOF, err)
	assert.Error(t, stream.SendMsg(&pb.StreamingOutputCallRequest{}), "SendMsg fails after CloseSend")
}

func TestStreamHeader(t *testing.T) {
	s := &server{stream: func(n int, s outStream) error {
		_ = s.SendHeader(metadata.Pairs("attempt", "x"))
		s.SetTrailer(metadata.Pairs("last", "words"))
		return unavailable
	}}
	stream, err := newClient(t, s, quick).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
	require.NoError(t, err)
	header, err := stream.Header()
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, header["attempt"])
	_, err = stream.Recv()
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.Equal(t, []string{"words"}, stream.Trailer()["last"])
	assert.Equal(t, 1, s.hits())
}

// TestStreamTimeout: the time limit applies to the first message, not to the stream.
func TestStreamTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := retry.Policy{Backoff: retry.Constant(time.Hour), AttemptTimeout: 40 * time.Second}
		s := &server{stream: func(n int, s outStream) error {
			if n == 1 {
				<-s.Context().Done()
				return nil
			}
			_ = s.Send(message("a"))
			time.Sleep(80 * time.Second)
			return s.Send(message("b"))
		}}
		start := time.Now()
		stream, err := newVirtualClient(t, s, policy).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
		require.NoError(t, err)
		bodies, err := receiveAll(t, stream)
		assert.Equal(t, "ab", bodies)
		assert.Equal(t, io.EOF, err)
		assert.Equal(t, 2, s.hits())
		assert.Equal(t, time.Hour+(40+80)*time.Second, time.Since(start))
	})
}

// TestStreamSlowCaller: the time before the caller starts receiving does not count
// toward AttemptTimeout.
func TestStreamSlowCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := quick
		policy.AttemptTimeout = 300 * time.Millisecond
		s := &server{stream: func(_ int, s outStream) error { return s.Send(message("a")) }}
		stream, err := newVirtualClient(t, s, policy).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
		require.NoError(t, err)
		time.Sleep(400 * time.Millisecond)
		bodies, err := receiveAll(t, stream)
		assert.Equal(t, "a", bodies)
		assert.Equal(t, io.EOF, err)
		assert.Equal(t, 1, s.hits())
	})
}

// TestStreamCanceled: a stream without a receiver ends with its context.
func TestStreamCanceled(t *testing.T) {
	for _, first := range []string{"receive first", "cancel first"} {
		t.Run(first, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{stream: func(_ int, s outStream) error { <-s.Context().Done(); return nil }}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				stream, err := newVirtualClient(t, s, quick).StreamingOutputCall(ctx, &pb.StreamingOutputCallRequest{})
				require.NoError(t, err)
				if first == "cancel first" {
					cancel()
				} else {
					time.AfterFunc(20*time.Millisecond, cancel)
				}
				_, err = stream.Recv()
				assert.Equal(t, codes.Canceled, status.Code(err))
				_, err = stream.Header()
				assert.Equal(t, codes.Canceled, status.Code(err))
				assert.LessOrEqual(t, s.hits(), 1)
			})
		})
	}
}

// TestStreamPanic: a panic in a hook continues in the caller's goroutine.
func TestStreamPanic(t *testing.T) {
	s := &server{stream: func(int, outStream) error { return unavailable }}
	policy := quick.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { panic("hook") }})
	stream, err := newClient(t, s, policy).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
	require.NoError(t, err)
	assert.Panics(t, func() { _, _ = stream.Recv() })
	assert.Panics(t, func() { _, _ = stream.Recv() })
}

// TestClientStreamNowhere: opening a stream is retried, whatever its method.
func TestClientStreamNowhere(t *testing.T) {
	attempts := 0
	policy := quick.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { attempts++ }})
	_, err := nowhere(t, policy).StreamingInputCall(t.Context())
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 3, attempts)
}

// TestServerStreamNowhere: if the stream cannot be opened, the first Recv returns the
// error.
func TestServerStreamNowhere(t *testing.T) {
	stream, err := nowhere(t, quick).StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Nil(t, stream.Trailer())
	assert.NotNil(t, stream.Context())
}
