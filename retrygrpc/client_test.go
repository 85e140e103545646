package retrygrpc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestOnFinish: grpc.OnFinish runs once per call, before the caller gets the result, with the
// error of the call.
func TestOnFinish(t *testing.T) {
	for name, tt := range map[string]struct {
		fault func(context.Context, string, int, point) error
		check func(error) bool
	}{
		"succeeds":  {failTwice(atBegin), func(err error) bool { return err == nil }},
		"gives up":  {failAlways(unavailable), func(err error) bool { return errors.Is(err, retry.ErrMaxAttempts) }},
		"permanent": {failAlways(status.Error(codes.NotFound, "")), func(err error) bool { return status.Code(err) == codes.NotFound }},
	} {
		for _, kind := range kinds {
			t.Run(name+kind.StreamName, func(t *testing.T) {
				s := &levelServer{fault: tt.fault}
				var ends []error
				onFinish := grpc.OnFinish(func(err error) { ends = append(ends, err) })
				conn := connect(t, s.serve(t, nil), append(retrygrpc.DialOptions(quick), grpc.WithDefaultCallOptions(onFinish, onFinish))...)
				ctx := withID(t.Context(), "a")
				if kind.StreamName == "" {
					_ = conn.Invoke(ctx, "/"+levels+"/Put", &wrapperspb.BytesValue{}, &wrapperspb.BytesValue{})
				} else {
					_, _ = exchange(ctx, conn, kind, "Put", 1, 1)
				}
				require.Len(t, ends, 2)
				assert.True(t, tt.check(ends[0]) && tt.check(ends[1]), ends)
			})
		}
	}
}

func failAlways(err error) func(context.Context, string, int, point) error {
	return func(context.Context, string, int, point) error { return err }
}

// TestOnFinishCanceled: a stream that is canceled while nobody receives is finished, too.
func TestOnFinishCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &levelServer{fault: failTwice(atBegin)}
		conn := s.inMemory(t, retrygrpc.DialOptions(quick)...)
		ctx, cancel := context.WithCancel(withID(t.Context(), "a"))
		defer cancel()
		var ends []codes.Code
		stream, err := conn.NewStream(ctx, &kinds[3], "/"+levels+"/PutBoth", grpc.OnFinish(func(err error) { ends = append(ends, status.Code(err)) }))
		require.NoError(t, err)
		require.NoError(t, stream.SendMsg(&wrapperspb.BytesValue{}))
		require.NoError(t, stream.RecvMsg(&wrapperspb.BytesValue{}))
		assert.Empty(t, ends)
		cancel()
		synctest.Wait()
		assert.Equal(t, []codes.Code{codes.Canceled}, ends)
		assert.Equal(t, codes.Canceled, status.Code(stream.RecvMsg(&wrapperspb.BytesValue{})))
		assert.Len(t, ends, 1)
	})
}

// TestEffective: what nil means for the calls of a connection is visible.
func TestEffective(t *testing.T) {
	p := retrygrpc.Client{Policy: retry.Policy{MaxElapsed: time.Minute}}.Effective()
	assert.Equal(t, retry.Policy{MaxElapsed: time.Minute, Hint: retry.HintAtLeast{}, Budget: retry.NoBudget{}}, p)
	own := retry.Policy{Hint: retry.HintIgnore{}, Budget: &retry.SharedBudget{}}
	assert.Equal(t, own, retrygrpc.Client{Policy: own}.Effective())
}
