package errfacts

import (
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"time"
)

// Hint returns the wait that err itself asks for, ignoring wrapped errors, or 0. It
// reads the method RetryAfter() time.Duration, the RetryInfo of gRPC and Connect
// errors, and fields named RetryAfter, which are durations or seconds.
func Hint(err error) time.Duration {
	if e, ok := err.(retryAfterer); ok {
		hint, _ := Guarded(e.RetryAfter)
		return hint
	}
	info := infoOf(err)
	switch {
	case info.hint != "":
		return seconds(field(reflect.ValueOf(err), info.hint))
	case info.origin != rpcError:
	case info.field == "code":
		return retryInfo(field(reflect.ValueOf(err), "details"))
	default:
		return retryInfo(field(reflect.ValueOf(err), "s.s.Details"))
	}
	return 0
}

// seconds returns a duration, or a number of seconds up to a week, as a duration.
func seconds(v reflect.Value) time.Duration {
	n := number(v, "")
	if v = pointee(v); v.IsValid() && v.Type() == reflect.TypeFor[time.Duration]() {
		return time.Duration(n)
	}
	if n < 0 || n > 7*24*3600 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// retryInfo returns the retry_delay of the google.rpc.RetryInfo in the details of an
// error: messages of type google.protobuf.Any, which Connect keeps in a field.
func retryInfo(details reflect.Value) time.Duration {
	if details.Kind() != reflect.Slice {
		return 0
	}
	for i := range details.Len() {
		message := details.Index(i)
		if inner := field(message, "pbAny"); inner.IsValid() {
			message = inner
		}
		value := field(message, "Value")
		isBytes := value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Uint8
		if isBytes && strings.HasSuffix(text(message, "TypeUrl"), "/google.rpc.RetryInfo") {
			delay, _ := protoField(value.Bytes(), 1)
			_, seconds := protoField(delay, 1)
			_, nanos := protoField(delay, 2)
			if seconds < math.MaxInt64/uint64(time.Second) && nanos < uint64(time.Second) { // as unsigned numbers, negative values are larger
				return time.Duration(seconds)*time.Second + time.Duration(nanos)
			}
		}
	}
	return 0
}

// protoField returns a field of an encoded protobuf message, as bytes or as an
// integer. It does not support messages with fields of other types.
func protoField(message []byte, number uint64) (data []byte, value uint64) {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		v, m := binary.Uvarint(message[max(n, 0):])
		if n <= 0 || m <= 0 {
			break
		}
		message = message[n+m:]
		size := uint64(0)
		switch key & 7 {
		case 0:
		case 2:
			size = v
		default:
			return nil, 0
		}
		if size > uint64(len(message)) {
			break
		}
		if key>>3 == number {
			return message[:size], v
		}
		message = message[size:]
	}
	return nil, 0
}
