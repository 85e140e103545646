package retrygrpc_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
	"github.com/gobackoff/retry/retryhedge"
)

// A hedgedCall is a call to a server in virtual time, whose copy starts after 60 ms.
type hedgedCall struct {
	method          string
	first, copy     error // of the executions, after 100 and 20 ms
	pushback        string
	code            codes.Code
	took            time.Duration
	executions, won int
}

// TestHedge: which methods get a copy, and which result is used.
func TestHedge(t *testing.T) {
	missing, busy := status.Error(codes.NotFound, ""), status.Error(codes.ResourceExhausted, "")
	for name, test := range map[string]hedgedCall{
		"without a level":       {method: "Pay", took: 100 * time.Millisecond, executions: 1, won: 1},
		"reads":                 {method: "Get", took: 80 * time.Millisecond, executions: 2, won: 2},
		"writes":                {method: "Put", took: 80 * time.Millisecond, executions: 2, won: 2},
		"not found":             {method: "Get", copy: missing, code: codes.NotFound, took: 80 * time.Millisecond, executions: 2, won: 2},
		"deleted by the first":  {method: "Put", copy: missing, took: 100 * time.Millisecond, executions: 2, won: 1},
		"the copy is throttled": {method: "Get", copy: busy, took: 100 * time.Millisecond, executions: 2, won: 1},
		"pushback of the copy":  {method: "Get", copy: missing, pushback: "-1", took: 100 * time.Millisecond, executions: 2, won: 1},
		"both fail":             {method: "Get", first: unavailable, copy: busy, code: codes.Unavailable, took: 100 * time.Millisecond, executions: 2, won: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test.run(t) })
		})
	}
}

func (h hedgedCall) run(t *testing.T) {
	s := &levelServer{}
	s.fault = func(ctx context.Context, id string, n int, at point) error {
		if at != atBegin {
			return nil
		}
		takes, err := 100*time.Millisecond, h.first
		if id == "warm-up" {
			takes, err = 20*time.Millisecond, nil
		} else if n == 2 {
			takes, err = 20*time.Millisecond, h.copy
			if h.pushback != "" {
				_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", h.pushback))
			}
		}
		time.Sleep(takes)
		_ = grpc.SetTrailer(ctx, metadata.Pairs("execution", strconv.Itoa(n)))
		return err
	}
	client := retrygrpc.Client{Policy: retry.Policy{MaxAttempts: 1}, Hedge: &retryhedge.Hedge{After: 60 * time.Millisecond}}
	conn := s.inMemory(t, client.DialOptions()...)
	call := func(id string, reply *wrapperspb.BytesValue, opts ...grpc.CallOption) error {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "id", id)
		return conn.Invoke(ctx, "/"+levels+"/"+h.method, &wrapperspb.BytesValue{Value: []byte("content")}, reply, opts...)
	}
	for range 40 { // the budget starts empty
		require.NoError(t, call("warm-up", new(wrapperspb.BytesValue)))
	}
	var trailer, header metadata.MD
	var from peer.Peer
	reply := &wrapperspb.BytesValue{Value: []byte("old")}
	start := time.Now()
	err := call("call", reply, grpc.Trailer(&trailer), grpc.Header(&header), grpc.Peer(&from))
	assert.Equal(t, h.took, time.Since(start))
	assert.Equal(t, h.code, status.Code(err))
	assert.Equal(t, []string{strconv.Itoa(h.won)}, trailer["execution"])
	assert.NotNil(t, from.Addr)
	if err == nil {
		assert.Equal(t, "content", string(reply.GetValue()))
		assert.Equal(t, []string{"application/grpc"}, header["content-type"])
	}
	time.Sleep(time.Second) // until the losers have ended
	assert.Equal(t, h.executions, s.of("call"))
}

// After a pushback, there are no copies for as long as it says.
func TestHedgePushback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &levelServer{fault: func(ctx context.Context, id string, n int, at point) error {
			if at == atBegin && id == "refused" && n == 1 {
				_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "5000"))
				return unavailable
			}
			if at == atBegin && id == "slow" && n != 3 {
				time.Sleep(time.Second)
			}
			return nil
		}}
		events := 0
		hedge := &retryhedge.Hedge{After: 60 * time.Millisecond, OnEvent: func(context.Context, retryhedge.Event) { events++ }}
		conn := s.inMemory(t, retrygrpc.Client{Hedge: hedge}.DialOptions()...)
		call := func(id string) {
			ctx := metadata.AppendToOutgoingContext(t.Context(), "id", id)
			require.NoError(t, conn.Invoke(ctx, "/"+levels+"/Get", new(wrapperspb.BytesValue), new(wrapperspb.BytesValue)))
		}
		for range 40 {
			call("fast")
		}
		go call("refused") // and retried after 5 s
		synctest.Wait()
		call("slow")
		assert.Zero(t, events)
		time.Sleep(5 * time.Second)
		call("slow")
		assert.Equal(t, 2, events, "started and won")
		time.Sleep(time.Second) // until the loser has ended
	})
}

// A copy that gets no permit is no worse than none.
func TestHedgeUnsentCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &levelServer{fault: func(_ context.Context, id string, _ int, at point) error {
			if at == atBegin && id == "slow" {
				time.Sleep(time.Second)
			}
			return nil
		}}
		var events []retryhedge.EventKind
		client := retrygrpc.Client{Policy: retry.Policy{Limiter: &permits{41}}, Hedge: &retryhedge.Hedge{
			After: 60 * time.Millisecond, OnEvent: func(_ context.Context, e retryhedge.Event) { events = append(events, e.Kind) }}}
		conn := s.inMemory(t, client.DialOptions()...)
		call := func(id string) {
			ctx := metadata.AppendToOutgoingContext(t.Context(), "id", id)
			require.NoError(t, conn.Invoke(ctx, "/"+levels+"/Get", new(wrapperspb.BytesValue), new(wrapperspb.BytesValue)))
		}
		for range 40 { // the budget starts empty
			call("fast")
		}
		call("slow")
		assert.Equal(t, []retryhedge.EventKind{retryhedge.Started}, events)
	})
}

// permits is a Limiter that fails permanently when it has none left.
type permits struct{ left int }

func (p *permits) Wait(context.Context) error {
	if p.left--; p.left < 0 {
		return retry.Permanent(errors.New("no permits"))
	}
	return nil
}
