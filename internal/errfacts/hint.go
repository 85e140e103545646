package errfacts

import (
	"encoding/binary"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Advice returns what err itself, ignoring wrapped errors, says to a caller that could
// repeat the call: the wait that it asks for, or 0, and whether a library gave up with it
// after retries of its own.
func Advice(err error) (wait time.Duration, gaveUp bool) {
	info := infoOf(err)
	switch {
	case info.asks&asksWait != 0:
		return info.askWait(err), false
	case info.hinted || info.origin == giveUp:
		var s said
		s.gather(info, err, reflect.ValueOf(err))
		return s.hint, s.gaveUp
	}
	return 0, false
}

// waitIn returns the wait that an error asks for in its fields: the RetryInfo of gRPC and
// Connect errors, fields named RetryAfter, which are durations or seconds, also as text, and the
// header of a response in a field.
func (info *typeInfo) waitIn(v reflect.Value, s *said) (wait time.Duration) {
	if info.hint != "" {
		wait = hint(field(v, info.hint))
	}
	if wait == 0 && (info.response != "" || info.header != "" || s.secondary) {
		wait = info.waitInHeader(v, s)
	}
	if info.origin == rpcError && info.hint == "" && info.response == "" {
		details := "details"
		if status, ok := strings.CutSuffix(info.field, ".Code"); ok {
			details = status + ".Details"
		}
		wait = retryInfo(field(v, details))
	}
	if wait == 0 && info.details {
		wait = retryInfoOfJSON(field(v, "Details"))
	}
	return wait
}

// hint returns the wait in a field, a time.Duration, a number or a text. A number is one of
// seconds, up to a week, otherwise one of nanoseconds.
func hint(v reflect.Value) time.Duration {
	v = Pointee(v)
	n := max(0, number(v, ""))
	if v.Kind() == reflect.String { // of a header
		n, _ = strconv.ParseInt(v.String(), 10, 0)
		n = max(0, n)
	}
	if n <= 7*24*3600 && (n == 0 || v.Type() != reflect.TypeFor[time.Duration]()) {
		n *= int64(time.Second)
	}
	return time.Duration(n)
}

// waitInHeader returns the wait that a response with an error status asks for: an *http.Response in a
// field, or a header beside the status.
func (info *typeInfo) waitInHeader(v reflect.Value, s *said) time.Duration {
	status, header := s.number, field(v, info.header)
	if info.response != "" {
		response := field(v, info.response)
		status, header = number(response, "StatusCode"), field(response, "Header")
	}
	h := headerOf(header)
	switch {
	case s.secondary:
		return SecondaryWait(h, time.Now())
	case status < 400 || status > 599 || len(h) == 0:
		return 0
	}
	return ReadHead(h, int(status), time.Now()).Wait
}

// headerOf returns a copy of an http.Header, whose field may be unexported, so that Interface would
// panic.
func headerOf(header reflect.Value) Header {
	if header.Kind() != reflect.Map {
		return nil
	}
	h := make(Header, header.Len())
	for entry := header.MapRange(); entry.Next(); {
		values := entry.Value()
		for i := range values.Len() {
			h[entry.Key().String()] = append(h[entry.Key().String()], values.Index(i).String())
		}
	}
	return h
}

// maxDetails is the number of details of an error that are looked at.
const maxDetails = 32

// retryInfo returns the retry_delay of the google.rpc.RetryInfo in the first details of an
// error: messages of type google.protobuf.Any, which Connect keeps in a field.
func retryInfo(details reflect.Value) time.Duration {
	if details.Kind() != reflect.Slice {
		return 0
	}
	for i := range min(details.Len(), maxDetails) {
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

// retryInfoOfJSON is retryInfo for details that were read from JSON, as genai has them.
func retryInfoOfJSON(details reflect.Value) time.Duration {
	for i := range min(details.Len(), maxDetails) {
		detail, ok := details.Index(i).Interface().(map[string]any)
		kind, _ := detail["@type"].(string)
		if !ok || !strings.HasSuffix(kind, "/google.rpc.RetryInfo") {
			continue
		}
		delay, _ := detail["retryDelay"].(string)
		seconds, isSeconds := strings.CutSuffix(delay, "s")
		wait, isNumber := parseNumber(seconds, time.Second)
		if isSeconds && isNumber {
			return wait
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
