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
// errors, and the retry-after fields of Kubernetes and GitHub errors.
func Hint(err error) time.Duration {
	if e, ok := err.(retryAfterer); ok {
		hint, _ := Guarded(e.RetryAfter)
		return hint
	}
	v := reflect.ValueOf(err)
	switch originOf(err) {
	case grpcError:
		return retryInfo(field(v, "s.s.Details"))
	case connectError:
		return retryInfo(field(v, "details"))
	case kubernetesError:
		return time.Duration(number(v, "ErrStatus.Details.RetryAfterSeconds")) * time.Second
	case githubLimit:
		return time.Duration(number(v, "RetryAfter"))
	}
	return 0
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
