package retrygrpc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrygrpc"
)

// invocation is what an interceptor makes of a unary call.
type invocation func(ctx context.Context, invoke func(context.Context, ...grpc.CallOption) error, opts []grpc.CallOption) error

func (i invocation) interceptor(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return i(ctx, func(ctx context.Context, opts ...grpc.CallOption) error {
		return invoker(ctx, method, req, reply, cc, opts...)
	}, opts)
}

// detached returns a context with nothing but the metadata of ctx.
func detached(ctx context.Context) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	return metadata.NewOutgoingContext(context.Background(), md)
}

// TestAttemptUnary: whatever an interceptor does, a call of a method without a level is made
// again only if nothing of it was sent.
func TestAttemptUnary(t *testing.T) {
	type invoke = func(context.Context, ...grpc.CallOption) error
	var late sync.WaitGroup
	for name, tt := range map[string]struct {
		interceptor    invocation
		attempts, hits int
	}{
		"passes everything on": {func(ctx context.Context, do invoke, opts []grpc.CallOption) error { return do(ctx, opts...) }, 1, 1},
		"drops the options":    {func(ctx context.Context, do invoke, _ []grpc.CallOption) error { return do(ctx) }, 1, 1},
		"drops the context":    {func(ctx context.Context, do invoke, opts []grpc.CallOption) error { return do(detached(ctx), opts...) }, 1, 1},
		"drops both":           {func(ctx context.Context, do invoke, _ []grpc.CallOption) error { return do(detached(ctx)) }, 1, 1},
		"another error": {func(ctx context.Context, do invoke, _ []grpc.CallOption) error {
			_ = do(ctx)
			return errors.New("plain")
		}, 1, 1},
		"calls twice": {func(ctx context.Context, do invoke, opts []grpc.CallOption) error {
			_ = do(ctx)
			return do(ctx, opts...)
		}, 1, 2},
		"does not call": {func(context.Context, invoke, []grpc.CallOption) error { return unavailable }, 4, 0},
		"calls too late": {func(ctx context.Context, do invoke, opts []grpc.CallOption) error {
			late.Go(func() {
				<-ctx.Done()
				assert.ErrorContains(t, do(context.WithoutCancel(ctx), opts...), "the attempt has ended")
			})
			return unavailable
		}, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &levelServer{fault: func(context.Context, string, int, point) error { return unavailable }}
			attempts := 0
			policy := quick.With(retry.Hooks{OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
				attempts++
				ctx, cancel := context.WithCancel(ctx)
				return ctx, func(retry.Attempt) { cancel() }
			}})
			options := append(retrygrpc.DialOptions(policy), grpc.WithChainUnaryInterceptor(tt.interceptor.interceptor))
			conn := connect(t, s.serve(t, nil), options...)
			err := conn.Invoke(withID(t.Context(), "a"), "/"+levels+"/Pay", &wrapperspb.BytesValue{}, &wrapperspb.BytesValue{})
			late.Wait()
			assert.Equal(t, tt.attempts, attempts)
			assert.Equal(t, tt.hits, s.of("a"))
			assert.Equal(t, tt.hits > 0, errors.Is(err, retry.ErrUnrepeatable), "%v", err)
		})
	}
}

// TestAttemptStream: an interceptor may use a stream before it fails.
func TestAttemptStream(t *testing.T) {
	failure := errors.New("after the first message")
	for name, interceptor := range map[string]grpc.StreamClientInterceptor{
		"uses the stream": func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := streamer(ctx, &kinds[3], cc, method)
			require.NoError(t, err)
			var m wrapperspb.BytesValue
			return nil, errors.Join(failure, stream.SendMsg(&m), stream.CloseSend(), stream.RecvMsg(&m))
		},
		"uses another context": func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := streamer(detached(ctx), &kinds[3], cc, method, opts...)
			require.NoError(t, err)
			var m wrapperspb.BytesValue
			return nil, errors.Join(failure, stream.SendMsg(&m), stream.CloseSend(), stream.RecvMsg(&m))
		},
	} {
		for _, kind := range kinds[1:] {
			t.Run(fmt.Sprint(name, kind.StreamName), func(t *testing.T) {
				s := &levelServer{fault: func(context.Context, string, int, point) error { return nil }}
				conn := connect(t, s.serve(t, nil), append(retrygrpc.DialOptions(quick), grpc.WithChainStreamInterceptor(interceptor))...)
				_, err := exchange(withID(t.Context(), "a"), conn, kind, "Pay", 1, 1)
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				assert.ErrorIs(t, err, failure)
				assert.Equal(t, 1, s.of("a"))
			})
		}
	}
}

// TestAttemptRefused: a trusted pushback is about one stream, and an interceptor may have
// used another before.
func TestAttemptRefused(t *testing.T) {
	s := &levelServer{fault: func(ctx context.Context, _ string, execution int, at point) error {
		if execution > 1 {
			_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "1"))
		}
		return unavailable
	}}
	client := retrygrpc.Client{Policy: quick, TrustPushback: true}
	conn := connect(t, s.serve(t, nil), append(client.DialOptions(), grpc.WithChainUnaryInterceptor(
		invocation(func(ctx context.Context, do func(context.Context, ...grpc.CallOption) error, opts []grpc.CallOption) error {
			_ = do(ctx, opts...)
			return do(ctx, opts...)
		}).interceptor))...)
	err := conn.Invoke(withID(t.Context(), "a"), "/"+levels+"/Pay", &wrapperspb.BytesValue{}, &wrapperspb.BytesValue{})
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.Equal(t, 2, s.of("a"))
}

// TestNoStreamAllowed: an attempt that has waited until its deadline for a stream that the server
// does not allow has sent nothing.
func TestNoStreamAllowed(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.StreamName, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &levelServer{fault: func(_ context.Context, id string, _ int, at point) error {
					if id == "first" && at == atBegin {
						time.Sleep(2500 * time.Millisecond)
					}
					return nil
				}}
				network := memnet.New()
				s.serve(t, network, grpc.MaxConcurrentStreams(1))
				conn := dialMemory(t, network, retrygrpc.DialOptions(quick)...)
				go func() { _, _ = exchange(withID(t.Context(), "first"), conn, kind, "Pay", 1, 1) }()
				synctest.Wait()
				policy := quick
				policy.AttemptTimeout = time.Second
				_, err := exchange(withID(t.Context(), "second"), conn, kind, "Pay", 1, 1, retrygrpc.WithPolicy(policy))
				require.NoError(t, err)
				assert.Equal(t, 1, s.of("second"))
			})
		})
	}
}

// tokens are credentials whose source fails at first.
type tokens struct{ failures atomic.Int64 }

func (s *tokens) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if s.failures.Add(-1) >= 0 {
		return nil, status.Error(codes.Unavailable, "the token server is down")
	}
	return map[string]string{"authorization": "token"}, nil
}

func (*tokens) RequireTransportSecurity() bool { return false }

// TestTokenSourceFails: if the credentials fail, nothing was sent, so a method without a level
// is called again, wherever the credentials stand and whatever an interceptor passes on.
func TestTokenSourceFails(t *testing.T) {
	for name, with := range map[string]func(ours []grpc.DialOption, source credentials.PerRPCCredentials) []grpc.DialOption{
		"before the options": func(ours []grpc.DialOption, source credentials.PerRPCCredentials) []grpc.DialOption {
			return append([]grpc.DialOption{grpc.WithPerRPCCredentials(source)}, ours...)
		},
		"behind the options": func(ours []grpc.DialOption, source credentials.PerRPCCredentials) []grpc.DialOption {
			return append(ours, grpc.WithPerRPCCredentials(source))
		},
		"in the call": func(ours []grpc.DialOption, source credentials.PerRPCCredentials) []grpc.DialOption {
			return append(ours, grpc.WithDefaultCallOptions(grpc.PerRPCCredentials(source)))
		},
		"in the call, added by an interceptor": func(ours []grpc.DialOption, source credentials.PerRPCCredentials) []grpc.DialOption {
			return append(ours, adding(grpc.PerRPCCredentials(source))...)
		},
		"behind an interceptor that drops the options": func(ours []grpc.DialOption, source credentials.PerRPCCredentials) []grpc.DialOption {
			return append(append(ours, dropping()...), grpc.WithPerRPCCredentials(source))
		},
	} {
		for _, kind := range kinds {
			t.Run(name+kind.StreamName, func(t *testing.T) {
				s := &levelServer{fault: func(context.Context, string, int, point) error { return nil }}
				source := &tokens{}
				source.failures.Store(2)
				options := with(retrygrpc.DialOptions(quick), source)
				_, err := exchange(withID(t.Context(), "a"), connect(t, s.serve(t, nil), options...), kind, "Pay", 1, 1)
				require.NoError(t, err)
				assert.Equal(t, 1, s.of("a"))
			})
		}
	}
	for name, interceptors := range map[string][]grpc.DialOption{"": nil, ", behind an interceptor that drops the options": dropping()} {
		t.Run("a failure after the credentials"+name, func(t *testing.T) {
			s := &levelServer{fault: func(context.Context, string, int, point) error { return unavailable }}
			options := append(retrygrpc.DialOptions(quick), interceptors...)
			conn := connect(t, s.serve(t, nil), append(options, grpc.WithPerRPCCredentials(&tokens{}))...)
			err := conn.Invoke(withID(t.Context(), "a"), "/"+levels+"/Pay", &wrapperspb.BytesValue{}, &wrapperspb.BytesValue{}, grpc.PerRPCCredentials(&tokens{}))
			assert.ErrorIs(t, err, retry.ErrUnrepeatable)
			assert.Equal(t, 1, s.of("a"))
		})
	}
}

// adding returns interceptors that add an option to each call.
func adding(o grpc.CallOption) []grpc.DialOption {
	return intercepting(func(opts []grpc.CallOption) []grpc.CallOption { return append(opts, o) })
}

// dropping returns interceptors that do not pass the options of a call on.
func dropping() []grpc.DialOption {
	return intercepting(func([]grpc.CallOption) []grpc.CallOption { return nil })
}

func intercepting(change func([]grpc.CallOption) []grpc.CallOption) []grpc.DialOption {
	unary := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		return invoker(ctx, method, req, reply, cc, change(opts)...)
	}
	stream := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		return streamer(ctx, desc, cc, method, change(opts)...)
	}
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(unary), grpc.WithChainStreamInterceptor(stream)}
}
