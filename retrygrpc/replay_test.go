package retrygrpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

// exchange sends n messages of a size, with one message object, and returns the bytes of
// all responses.
func exchange(ctx context.Context, conn *grpc.ClientConn, kind grpc.StreamDesc, method string, n, size int, opts ...grpc.CallOption) ([]byte, error) {
	stream, err := conn.NewStream(ctx, &kind, "/"+levels+"/"+method+kind.StreamName, opts...)
	if err != nil {
		return nil, err
	}
	var request wrapperspb.BytesValue
	for i := range n {
		request.Value = bytes.Repeat([]byte{byte(i)}, size)
		if err := stream.SendMsg(&request); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	var all []byte
	for {
		var m wrapperspb.BytesValue
		if err := stream.RecvMsg(&m); err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
		if all = append(all, m.GetValue()...); !kind.ServerStreams {
			return all, nil
		}
	}
}

func numbered(n, size int) (all []byte) {
	for i := range n {
		all = append(all, bytes.Repeat([]byte{byte(i)}, size)...)
	}
	return all
}

// failTwice fails the first two executions at a point.
func failTwice(at point) func(context.Context, string, int, point) error {
	return func(_ context.Context, _ string, execution int, now point) error {
		if execution <= 2 && now == at {
			return unavailable
		}
		return nil
	}
}

// TestReplay: streams of all kinds are sent again while their messages are kept and nothing
// has been received.
func TestReplay(t *testing.T) {
	const size = 100 // 102 or 103 encoded
	for _, kind := range kinds[1:] {
		most := 1
		if kind.ClientStreams {
			most = 20
		}
		for _, tt := range []struct {
			method string
			n      int
			at     point
			hits   int // 3: succeeds
		}{
			{"Put", 1, atBegin, 3},
			{"Put", 1, afterRead, 3},
			{"Put", 1, afterAll, 3},
			{"Put", 1, afterMessage, 1},
			{"Pay", 1, atBegin, 1},
			{"Pay", 1, afterAll, 1},
			{"Get", 10, afterRead, 3},
			{"Put", 20, atBegin, 0}, // succeeds or is committed, depending on how early the client learns of the failure
			{"Put", 20, afterRead, 0},
		} {
			n := min(tt.n, most)
			echoed := kind.ClientStreams && kind.ServerStreams && tt.at == afterAll // after the first message
			switch {
			case echoed:
				tt.hits = 1
			case !kind.ServerStreams && tt.at == afterMessage:
				tt.hits = 3 // grpc-go withholds the only message of a stream that fails
			}
			t.Run(fmt.Sprintf("%s%s/%d/%s", tt.method, kind.StreamName, n, tt.at), func(t *testing.T) {
				s := &levelServer{fault: failTwice(tt.at)}
				client := retrygrpc.Client{Policy: quick, MaxBuffer: 10 * 103}
				conn := connect(t, s.serve(t, nil), client.DialOptions()...)
				all, err := exchange(withID(t.Context(), "a"), conn, kind, tt.method, n, size)
				if tt.hits == 3 || tt.hits == 0 && err == nil {
					require.NoError(t, err)
					assert.Equal(t, numbered(n, size), all)
					assert.Equal(t, 3, s.of("a"))
					return
				}
				assert.Equal(t, codes.Unavailable, status.Code(err))
				if tt.hits == 0 {
					assert.ErrorIs(t, err, retry.ErrUnrepeatable)
					assert.ErrorContains(t, err, "its messages were not kept: see Client.MaxBuffer")
					return
				}
				assert.Equal(t, tt.hits, s.of("a"))
				if tt.method == "Pay" && !echoed {
					assert.ErrorContains(t, err, "see Client.Repeatable")
				}
			})
		}
	}
}

// TestReplayBound: a stream that fails after all messages were sent is sent again if they
// fit exactly, and not if they are one byte too large.
func TestReplayBound(t *testing.T) {
	const size, encoded = 100, 102
	for name, tt := range map[string]struct {
		buffer, hits int
	}{"fits": {5 * encoded, 3}, "one byte too large": {5*encoded - 1, 1}, "none": {-1, 1}, "default": {0, 3}} {
		for _, kind := range kinds[2:] {
			t.Run(name+kind.StreamName, func(t *testing.T) {
				s := &levelServer{fault: failTwice(afterAll)}
				client := retrygrpc.Client{Policy: quick, MaxBuffer: tt.buffer}
				conn := connect(t, s.serve(t, nil), client.DialOptions()...)
				all, err := exchange(withID(t.Context(), "a"), conn, kind, "Put", 5, size)
				if kind.ServerStreams { // echoes: the first message ends the retries
					assert.Equal(t, codes.Unavailable, status.Code(err))
					assert.Equal(t, numbered(5, size), all)
					assert.Equal(t, 1, s.of("a"))
					return
				}
				assert.Equal(t, tt.hits, s.of("a"))
				if tt.hits == 1 {
					assert.ErrorContains(t, err, "Client.MaxBuffer")
					return
				}
				require.NoError(t, err)
				assert.Equal(t, numbered(5, size), all)
			})
		}
	}
}

// TestReplayRefused: a stream that the server has not begun is sent again, whatever its
// method.
func TestReplayRefused(t *testing.T) {
	for _, kind := range kinds[1:] {
		var refusals atomic.Int64
		refuse := grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if refusals.Add(1) > 2 {
				return handler(srv, stream)
			}
			stream.SetTrailer(metadata.Pairs("grpc-retry-pushback-ms", "1"))
			return unavailable
		})
		s := &levelServer{fault: failTwice("")}
		conn := connect(t, s.serve(t, nil, refuse), retrygrpc.Client{Policy: quick, TrustPushback: true}.DialOptions()...)
		all, err := exchange(withID(t.Context(), "a"), conn, kind, "Pay", 1, 100)
		require.NoError(t, err, kind.StreamName)
		assert.Equal(t, numbered(1, 100), all)
		assert.Equal(t, 1, s.of("a"))
		assert.EqualValues(t, 3, refusals.Load())
	}
}

// TestReplayHeader: Header waits for the attempt that has headers, and that attempt goes on.
func TestReplayHeader(t *testing.T) {
	for _, kind := range kinds[1:] {
		s := &levelServer{fault: failTwice(atBegin)}
		conn := connect(t, s.serve(t, nil), retrygrpc.DialOptions(quick)...)
		stream, err := conn.NewStream(withID(t.Context(), "a"), &kind, "/"+levels+"/Put"+kind.StreamName)
		require.NoError(t, err)
		require.NoError(t, stream.SendMsg(&wrapperspb.BytesValue{Value: []byte("x")}))
		echoes := kind.ClientStreams && kind.ServerStreams
		if !echoes {
			require.NoError(t, stream.CloseSend())
		}
		header, err := stream.Header()
		require.NoError(t, err)
		assert.Equal(t, []string{"application/grpc"}, header["content-type"])
		var m wrapperspb.BytesValue
		require.NoError(t, stream.RecvMsg(&m))
		assert.Equal(t, "x", string(m.GetValue()))
		if echoes {
			require.NoError(t, stream.SendMsg(&wrapperspb.BytesValue{Value: []byte("y")}))
			require.NoError(t, stream.RecvMsg(&m))
			assert.Equal(t, "y", string(m.GetValue()))
			require.NoError(t, stream.CloseSend())
		}
		assert.Equal(t, 3, s.of("a"))
	}
}

// TestReplayWhileSending: SendMsg finds that an attempt has ended, so that the stream is
// sent again before the caller receives, and may then go beyond the buffer.
func TestReplayWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range kinds[2:] {
			s := &levelServer{fault: failTwice(afterRead)}
			client := retrygrpc.Client{Policy: quick, MaxBuffer: 100_000}
			if kind.ServerStreams {
				s.fault = failTwice(atBegin)
			}
			conn := s.inMemory(t, client.DialOptions()...)
			stream, err := conn.NewStream(withID(t.Context(), "a"), &kind, "/"+levels+"/Put"+kind.StreamName)
			require.NoError(t, err)
			sent := 0
			for ; s.of("a") < 3 && sent < 20; sent++ {
				require.NoError(t, stream.SendMsg(&wrapperspb.BytesValue{Value: []byte{'x'}}))
				synctest.Wait() // the client learns how the attempt ended
			}
			assert.Equal(t, 3, s.of("a"))
			require.NoError(t, stream.SendMsg(&wrapperspb.BytesValue{Value: make([]byte, 200_000)}))
			require.NoError(t, stream.CloseSend())
			received := 0
			var m wrapperspb.BytesValue
			for err = stream.RecvMsg(&m); err == nil && kind.ServerStreams; err = stream.RecvMsg(&m) {
				received += len(m.GetValue())
			}
			if !kind.ServerStreams {
				received, err = len(m.GetValue()), io.EOF
			}
			assert.Equal(t, io.EOF, err)
			assert.Equal(t, sent+200_000, received)
		}
	})
}

// TestReplayBudget: a replayed stream pays for its retries.
func TestReplayBudget(t *testing.T) {
	s := &levelServer{fault: func(context.Context, string, int, point) error { return unavailable }}
	policy := quick
	policy.Budget = &retrygrpc.ThrottleBudget{MaxTokens: 4}
	conn := connect(t, s.serve(t, nil), retrygrpc.DialOptions(policy)...)
	_, err := exchange(withID(t.Context(), "a"), conn, kinds[2], "Put", 1, 1)
	assert.ErrorIs(t, err, retry.ErrBudget)
	assert.Equal(t, 2, s.of("a"))
}

// TestReplayConcurrent: requests are sent while responses are received and attempts fail.
func TestReplayConcurrent(t *testing.T) {
	s := &levelServer{fault: func(_ context.Context, id string, execution int, at point) error {
		if execution <= 2 && (at == atBegin || at == afterRead && execution == 2) {
			return unavailable
		}
		return nil
	}}
	conn := connect(t, s.serve(t, nil), retrygrpc.DialOptions(quick)...)
	const n = 300
	for i := range 20 {
		stream, err := conn.NewStream(withID(t.Context(), fmt.Sprint(i)), &kinds[3], "/"+levels+"/PutBoth")
		require.NoError(t, err)
		sent := make(chan error)
		go func() {
			var err error
			for i := 0; i < n && err == nil; i++ {
				err = stream.SendMsg(&wrapperspb.BytesValue{Value: []byte{byte(i)}})
			}
			sent <- errors.Join(err, stream.CloseSend())
		}()
		var all []byte
		for {
			var m wrapperspb.BytesValue
			if err = stream.RecvMsg(&m); err != nil {
				break
			}
			all = append(all, m.GetValue()...)
		}
		assert.Equal(t, io.EOF, err)
		require.NoError(t, <-sent)
		assert.Equal(t, numbered(n, 1), all)
		assert.Equal(t, 3, s.of(fmt.Sprint(i)))
	}
}

// TestReplayFlow: the caller receives the first message while SendMsg waits for the
// server to read.
func TestReplayFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &levelServer{fault: func(context.Context, string, int, point) error { return nil }}
		conn := s.inMemory(t, retrygrpc.DialOptions(quick)...)
		stream, err := conn.NewStream(withID(t.Context(), "a"), &kinds[3], "/"+levels+"/PutBoth")
		require.NoError(t, err)
		sent := make(chan error)
		go func() { // far more than the windows of HTTP/2 hold, although nobody receives
			var err error
			for i := 0; i < 100 && err == nil; i++ {
				err = stream.SendMsg(&wrapperspb.BytesValue{Value: make([]byte, 50_000)})
			}
			sent <- errors.Join(err, stream.CloseSend())
		}()
		synctest.Wait() // SendMsg waits
		received := 0
		for {
			var m wrapperspb.BytesValue
			if err = stream.RecvMsg(&m); err != nil {
				break
			}
			received += len(m.GetValue())
		}
		assert.Equal(t, io.EOF, err)
		assert.NoError(t, <-sent)
		assert.Equal(t, 5_000_000, received)
	})
}

// TestReplayAsGoodAsServiceConfig: streams that succeed with grpc-go's own retries, at equal
// attempts, also do so with this package.
func TestReplayAsGoodAsServiceConfig(t *testing.T) {
	policy := retry.Policy{Backoff: retry.Constant(time.Microsecond), MaxAttempts: 4}
	config, _, err := retrygrpc.ServiceConfig(policy, "*")
	require.NoError(t, err)
	clients := [][]grpc.DialOption{{grpc.WithDefaultServiceConfig(config)}, retrygrpc.DialOptions(policy)}
	var successes [2]int
	for _, kind := range kinds[1:] {
		for _, at := range []point{atBegin, afterRead, afterAll, afterHeaders, afterMessage} {
			for _, messages := range []int{1, 4, 5} { // of 60 KiB: the buffer holds 4
				if messages > 1 && !kind.ClientStreams {
					continue
				}
				var good [2]bool
				for i, options := range clients {
					s := &levelServer{fault: failTwice(at)}
					all, err := exchange(withID(t.Context(), "a"), connect(t, s.serve(t, nil), options...), kind, "Put", messages, 60<<10)
					if good[i] = err == nil; good[i] {
						successes[i]++
						assert.True(t, bytes.Equal(numbered(messages, 60<<10), all))
					}
				}
				if messages < 5 { // beyond the buffer, it depends on when the client learns of the failure
					assert.True(t, good[1] || !good[0], "%s %s %d", kind.StreamName, at, messages)
				}
			}
		}
	}
	t.Logf("%d streams succeed with grpc-go's retries, %d with this package's", successes[0], successes[1])
}

// TestReplayReleases: when a stream has ended, so has the context of its last attempt, which
// would otherwise stay with the caller's context as long as that lives.
func TestReplayReleases(t *testing.T) {
	for _, kind := range kinds[1:] {
		t.Run(kind.StreamName, func(t *testing.T) {
			s := &levelServer{fault: func(context.Context, string, int, point) error { return nil }}
			var attempts []context.Context
			spy := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				attempts = append(attempts, ctx)
				return streamer(ctx, desc, cc, method, opts...)
			}
			conn := s.inMemory(t, append(repeatingAll(retry.Policy{}), grpc.WithChainStreamInterceptor(spy))...)
			ctx := withID(t.Context(), "1")
			_, err := exchange(ctx, conn, kind, "Get", 1, 1)
			require.NoError(t, err)
			stream, err := conn.NewStream(ctx, &kind, "/"+levels+"/Get"+kind.StreamName)
			require.NoError(t, err)
			require.NoError(t, stream.SendMsg(&wrapperspb.BytesValue{}))
			require.NoError(t, stream.CloseSend())
			_, err = stream.Header()
			require.NoError(t, err)
			for err == nil {
				if err = stream.RecvMsg(&wrapperspb.BytesValue{}); err == nil && !kind.ServerStreams {
					err = io.EOF
				}
			}
			require.Equal(t, io.EOF, err)
			require.Len(t, attempts, 2)
			for _, attempt := range attempts {
				assert.ErrorIs(t, attempt.Err(), context.Canceled)
			}
		})
	}
}
