package errfacts

import (
	"encoding/binary"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// anyMessage and the types around it have the fields of protobuf's Any and of the
// errors of gRPC and Connect.
type (
	anyMessage struct {
		TypeUrl string
		Value   []byte
	}
	connectDetail struct{ pbAny *anyMessage }
	otherDetail   struct {
		TypeUrl string
		Value   []string
	}
)

const retryInfoURL = "type.googleapis.com/google.rpc.RetryInfo"

// duration encodes a google.rpc.RetryInfo.
func duration(seconds, nanos int64) []byte {
	delay := append([]byte{1 << 3}, binary.AppendUvarint(nil, uint64(seconds))...)
	delay = append(append(delay, 2<<3), binary.AppendUvarint(nil, uint64(nanos))...)
	return append([]byte{1<<3 | 2, byte(len(delay))}, delay...)
}

func TestRetryInfo(t *testing.T) {
	info := func(value []byte) any { return []*anyMessage{{retryInfoURL, value}} }
	whole := duration(7, 5)
	for _, tt := range []struct {
		name    string
		details any
		want    time.Duration
	}{
		{"whole", info(whole), 7*time.Second + 5},
		{"of Connect", []connectDetail{{}, {&anyMessage{retryInfoURL, whole}}}, 7*time.Second + 5},
		{"behind others", []*anyMessage{nil, {"type.googleapis.com/google.rpc.Help", whole}, {retryInfoURL, whole}}, 7*time.Second + 5},
		{"with an unknown field", info(append([]byte{9<<3 | 2, 1, 0, 8 << 3, 1}, whole...)), 7*time.Second + 5},
		{"with a field of a fixed size", info(append([]byte{9<<3 | 5, 0, 0, 0, 0}, whole...)), 0},
		{"negative", info(duration(-7, 0)), 0},
		{"negative nanoseconds", info(duration(0, -5)), 0},
		{"too long", info(duration(1<<62, 0)), 0},
		{"empty", info(nil), 0},
		{"no slice", "details", 0},
		{"other types", []otherDetail{{retryInfoURL, []string{"x"}}}, 0},
		{"numbers", []int{1}, 0},
	} {
		assert.Equal(t, tt.want, retryInfo(reflect.ValueOf(tt.details)), tt.name)
	}
	for n := range whole {
		assert.Zero(t, retryInfo(reflect.ValueOf(info(whole[:n]))), "cut off after %d bytes", n)
	}
	assert.Zero(t, retryInfo(reflect.Value{}))
}

func FuzzRetryInfo(f *testing.F) {
	f.Add(duration(7, 5))
	f.Add(duration(-1, -1))
	f.Fuzz(func(t *testing.T, value []byte) {
		got := retryInfo(reflect.ValueOf([]anyMessage{{retryInfoURL, value}}))
		assert.GreaterOrEqual(t, got, time.Duration(0))
	})
}

// TestAdviceOfFields: a wait is read from fields of several names and types.
func TestAdviceOfFields(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"seconds", struct {
			error
			RetryAfter uint64
		}{RetryAfter: 7}, 7 * time.Second},
		{"duration", struct {
			error
			RetryAfter time.Duration
		}{RetryAfter: time.Hour}, time.Hour},
		{"short duration", struct {
			error
			RetryAfter *time.Duration
		}{RetryAfter: new(500 * time.Microsecond)}, 500 * time.Microsecond},
		{"text of a header", struct {
			error
			RetryAfter string
		}{RetryAfter: "7"}, 7 * time.Second},
		{"text that is no number", struct {
			error
			RetryAfter string
		}{RetryAfter: "Wed, 21 Oct 2026 07:28:00 GMT"}, 0},
		{"negative text", struct {
			error
			RetryAfter string
		}{RetryAfter: "-7"}, 0},
		{"other name", struct {
			error
			RetryAfterSeconds *int
		}{RetryAfterSeconds: new(7)}, 7 * time.Second},
		{"another unit", struct {
			error
			RetryAfterMs int
		}{RetryAfterMs: 7}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wait, _ := Advice(tt.err)
			assert.Equal(t, tt.want, wait)
		})
	}
}
