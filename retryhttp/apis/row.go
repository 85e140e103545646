package apis

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A Row says what one value in the body of a response, or in an event of a stream, means. The
// zero Row is not valid: a row has at least Value and Means.
//
//	apis.Row{Host: "api.example.com", Path: "state.code", Value: "BUSY", Means: apis.Throttled}
type Row struct {
	// Host is the host of the request, without a port, or a domain above it. If it is empty,
	// the row is for all hosts.
	Host string

	// Status is the status of the response. 0 means 200 and every status of 400 or above.
	Status int

	// Has is the path of a value that has to be there, too, and is not null: the mark of a
	// protocol that many hosts speak. If it is empty, nothing else has to be there.
	Has string

	// Path leads to the value: keys that are separated by dots, such as error.code. A list on
	// the way stands for each of its elements. The case of letters does not matter. The path
	// event: is the name of a server-sent event. The elements of an XML document are read like
	// objects: Error.Code is the text of Code within the root Error. If Path is empty, the row is
	// for all fields in which APIs put codes, such as code, type, status and reason, of a response
	// or event that is a failure.
	Path string

	// Value is a text or a number, of at most 256 bytes, or true, false or null. The case of
	// letters does not matter, nor do the separators - _ and . in a text with letters, so
	// rate_limit_exceeded is also RateLimitExceeded. A question mark stands for one character
	// other than a space, and an asterisk, of which there may be two, for any number of these.
	// Three values are not texts: any is a text that is not empty or an object that is
	// not empty, !0 is a number other than 0, and two quotation marks are the empty text.
	Value string

	// Means is what the value means.
	Means Meaning

	// Source is the address of the document that says what the value means. Only people read it.
	Source string
}

// A Meaning is what a value says about the response or event in which it is. The zero Meaning is
// not valid.
type Meaning int

const (
	// Throttled is a refusal because of a limit or an overload: the request was not processed,
	// and may be repeated whatever its method.
	Throttled Meaning = iota + 1
	// Transient is a failure that a later attempt may not meet.
	Transient
	// Permanent is a failure that every attempt would meet.
	Permanent
	// Failed is a failure, and other rows say of which class. If none does, an event is a
	// transient failure, and the status decides about a response.
	Failed
	// Ordinary is no failure, whatever else is there: the status of a response decides, and an
	// event is output.
	Ordinary

	// Quiet is an event without output, in any stream.
	Quiet
	// Begun is an event without output, in a stream that has an End or a Last.
	Begun
	// Output is an event with output, in a stream that has an End or a Last.
	Output
	// End is the event with which the answer is complete, although others may follow.
	End
	// Last is the event with which the answer is complete and the stream ends.
	Last

	refused     // a code that refuses the request, which only an event has to say
	envelope    // a body that may have a failure: see failureIn
	erred       // an event that is a failure, or such a body
	refusedBody // a body that is a failure if it has no result
	denied      // an event that is a failure, or such a body
)

// A Table is the rows that [Check], [Events] and [Complete] know, and rows of a user. Its methods
// are those functions. A nil Table and the zero Table have no rows of a user. A Table may be shared.
type Table struct{ index *index }

// With returns a Table with the rows of this package and, before them, rows. The first row that
// applies decides. An error names a row that is not valid, and what is wrong with it.
//
//	table, err := apis.With(apis.Row{Host: "api.example.com", Path: "state", Value: "BUSY", Means: apis.Throttled})
//	…
//	client := &http.Client{Transport: &retryhttp.Transport{Check: table.Check}}
//
// With a row of a user, Check reads up to 32 KiB of each response of JSON or XML to which
// the row may apply by its Host and Status. That is a reason to set both.
func With(rows ...Row) (*Table, error) {
	var problems []error
	for i, row := range rows {
		if problem := row.problem(); problem != "" {
			problems = append(problems, fmt.Errorf("apis: row %d (path %q, value %q): %s", i+1, row.Path, row.Value, problem))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return &Table{index: newIndex(rows)}, nil
}

// problem returns what is wrong with a row, or "".
func (r Row) problem() string {
	switch {
	case r.Means < Throttled || r.Means > Last:
		return fmt.Sprintf("Means is %d, which is none of the constants", r.Means)
	case r.Value == "":
		return `Value is empty; "any" stands for every text, and two quotation marks for the empty one`
	case len(r.Value) > maxCode:
		return fmt.Sprintf("Value has more than %d bytes", maxCode)
	case r.Status != 0 && r.Status != http.StatusOK && (r.Status < 400 || r.Status > 999):
		return fmt.Sprintf("Status is %d; bodies are read with 200, and with 400 and above", r.Status)
	case strings.Count(r.Value, "*") > 2:
		return "Value has more than two asterisks"
	case strings.ContainsAny(r.Host, ":/ "):
		return fmt.Sprintf("Host %q has more than a host", r.Host)
	case r.Path == "" && r.Means >= Quiet:
		return "Path is empty, but the row is about events that are no failures"
	case badPath(r.Path):
		return "Path has an empty key"
	case badPath(r.Has):
		return fmt.Sprintf("Has %q has an empty key", r.Has)
	}
	return ""
}

func badPath(path string) bool {
	return path != "" && slices.Contains(strings.Split(path, "."), "")
}

// rules returns the rows of t.
func (t *Table) rules() *index {
	if t == nil || t.index == nil {
		return builtin()
	}
	return t.index
}

var builtin = sync.OnceValue(func() *index { return newIndex(nil) })

// isFor reports whether a meaning is one for an event or, otherwise, for the body of a response.
func (m Meaning) isFor(event bool) bool {
	switch m {
	case Quiet, Begun, Output, End, Last:
		return event
	case envelope, refusedBody:
		return !event
	}
	return true
}
