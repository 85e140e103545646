package errfacts

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
)

// Codes is what one error says in codes that an operator knows. Zero fields say nothing.
type Codes struct {
	Status int    // of HTTP
	RPC    string // the name of a status code of gRPC, which Connect has, too
	State  string // SQLSTATE
}

// CodesOf returns the codes of err, ignoring the errors that it wraps.
func CodesOf(err error) (c Codes) {
	info := infoOf(err)
	if info.blank {
		return c
	}
	var s said
	s.gather(info, err, reflect.ValueOf(err))
	c.State = s.state
	switch {
	case info.origin.hasStatus(), info.origin == ownNumber:
		c.Status = int(s.number)
	case info.origin == rpcError:
		c.RPC = rpcName(s.number)
	case info.origin == withState:
		c.State = s.text
	}
	var a answers
	a.askMethods(info, err)
	if a.status != 0 {
		c.Status = a.status
	}
	if a.hasState {
		c.State = a.state
	}
	return c
}

// String returns one of the codes in the form that NormalCode accepts, or "".
func (c Codes) String() string {
	if c.Status >= 400 && c.Status <= 599 {
		return strconv.Itoa(c.Status)
	}
	text := cmp.Or(c.RPC, c.State)
	if text == "" {
		return ""
	}
	code, _ := NormalCode(text)
	return code
}

// RPCNames are the names of gRPC's status codes. The index is the number.
var RPCNames = []string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

func rpcName(number int64) string {
	if number <= 0 || number >= int64(len(RPCNames)) {
		return ""
	}
	return RPCNames[number]
}

// NormalCode returns the usual form of what may be written for a code, and reports whether it
// is one: an HTTP status from 400 to 599, such as 503, all of a hundred, such as 5xx, several, such as
// 502-504, the name of a status code of gRPC in any of its forms, or a SQLSTATE.
func NormalCode(text string) (code string, ok bool) {
	upper := strings.ToUpper(text)
	if low, high, found := statuses(upper); found {
		switch {
		case strings.HasSuffix(upper, "XX"):
			return strings.ToLower(upper), true
		case low == high:
			return strconv.Itoa(low), true
		}
		return strconv.Itoa(low) + "-" + strconv.Itoa(high), true
	}
	for _, name := range RPCNames[1:] {
		if squeezed(upper) == squeezed(name) || name == "CANCELLED" && upper == "CANCELED" {
			return name, true
		}
	}
	if len(upper) == 5 && strings.Trim(upper, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && strings.ContainsAny(upper, "0123456789") {
		return upper, true
	}
	return "", false
}

// squeezed removes what the forms ResourceExhausted, resource-exhausted and
// RESOURCE_EXHAUSTED do not share.
func squeezed(upper string) string { return strings.NewReplacer("_", "", "-", "").Replace(upper) }

// statuses returns the first and the last HTTP status of 503, 5XX or 502-504.
func statuses(text string) (low, high int, ok bool) {
	if digit, found := strings.CutSuffix(text, "XX"); found {
		n, err := strconv.Atoi(digit)
		return n * 100, n*100 + 99, err == nil && len(digit) == 1 && n >= 4 && n <= 5
	}
	first, last, several := strings.Cut(text, "-")
	if !several {
		last = first
	}
	low, ok = status(first)
	high, okHigh := status(last)
	return low, high, ok && okHigh && low <= high
}

// status reads an HTTP status that is a failure.
func status(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && len(text) == 3 && n >= 400 && n <= 599
}

// Are reports whether one of the codes is the listed one, which [NormalCode] knows.
func (c Codes) Are(listed string) bool {
	code, ok := NormalCode(listed)
	if !ok {
		return false
	}
	if low, high, ok := statuses(strings.ToUpper(code)); ok {
		return c.Status >= low && c.Status <= high
	}
	return code == c.RPC || code == c.State
}
