package retryaws

import (
	"fmt"
	"net/http"

	"github.com/gobackoff/retry/retryhttp/transfer"
)

// restOf returns the part of the object that a response to a GET has. It returns false if the
// response does not say how long its body is, or which version of the object it is of.
func restOf(r *http.Response) (rest transfer.Range, ok bool) {
	rest, err := transfer.RangeOf(r)
	length := rest.End - rest.First
	hasETag := rest.Version != "" && rest.Version == r.Header.Get("ETag") // a date is none
	return rest, err == nil && hasETag && length > 0 && (r.ContentLength == length || r.ContentLength < 0)
}

// askFor makes a request ask for the rest, and for an error if the object has another version.
func askFor(r *http.Request, rest transfer.Range) {
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", rest.First, rest.End-1))
	r.Header.Set("If-Match", rest.Version)
	query := r.URL.Query()
	if query.Has("partNumber") { // the range is within the part
		query.Del("partNumber")
		r.URL.RawQuery = query.Encode()
	}
}

// check returns an error unless a response has the rest. A server may ignore Range or If-Match.
func check(r *http.Response, rest transfer.Range) error {
	err := rest.Check(r, rest.First)
	_, ok := restOf(r)
	if err == nil && !ok {
		err = fmt.Errorf("%w: the response has no strong ETag, or another length than it says", transfer.ErrChanged)
	}
	return err
}
