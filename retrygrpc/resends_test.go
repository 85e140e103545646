package retrygrpc_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

// refuseStreams speaks HTTP/2: it resets the first streams of a connection with
// REFUSED_STREAM, and answers the others with NOT_FOUND.
func refuseStreams(conn net.Conn, refusals int) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(conn, conn)
	_ = f.WriteSettings()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			if refusals--; refusals >= 0 {
				_ = f.WriteRSTStream(frame.StreamID, http2.ErrCodeRefusedStream)
				continue
			}
			var block bytes.Buffer
			encoder := hpack.NewEncoder(&block)
			for _, field := range [][2]string{{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "5"}} {
				_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
			}
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: frame.StreamID, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
		}
	}
}

// TestResends: grpc-go sends a refused stream again once, which costs the policy nothing.
// A second refusal ends the attempt.
func TestResends(t *testing.T) {
	for name, tt := range map[string]struct {
		method   string
		refusals int
		attempts int
		resends  int64
		code     codes.Code
		reason   error
	}{
		"one":                         {"Pay", 1, 1, 1, codes.NotFound, nil},
		"two":                         {"Pay", 2, 1, 1, codes.Unavailable, retry.ErrUnrepeatable},
		"two, of an idempotent call":  {"Put", 2, 2, 1, codes.NotFound, nil},
		"five, of an idempotent call": {"Put", 5, 3, 3, codes.NotFound, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					go refuseStreams(conn, tt.refusals)
				}
			}()
			var resends retrygrpc.Resends
			attempts := 1
			policy := quick.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { attempts++ }})
			conn := connect(t, l.Addr().String(), append(retrygrpc.DialOptions(policy), grpc.WithStatsHandler(&resends))...)
			err = conn.Invoke(t.Context(), "/"+levels+"/"+tt.method, &wrapperspb.BytesValue{}, &wrapperspb.BytesValue{})
			assert.Equal(t, tt.code, status.Code(err))
			assert.Equal(t, tt.attempts, attempts)
			assert.Equal(t, tt.resends, resends.Count())
			if tt.reason != nil {
				assert.ErrorIs(t, err, tt.reason)
			}
		})
	}
}
