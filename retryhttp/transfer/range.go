package transfer

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrChanged says that a response does not have the rest of what was begun: the resource has
// changed, or the server names no version of it, or it has sent other bytes.
var ErrChanged = errors.New("transfer: the rest of this version cannot be requested")

// A Range says which bytes of a resource a response has. It can be used to request the rest of them.
type Range struct {
	First   int64  // the position of the first byte
	End     int64  // the position after the last byte; -1: the response does not say it
	Size    int64  // of the whole resource; -1: the response does not say it
	Version string // the strong validator, an ETag or a date; "": the response has none
}

// RangeOf returns the Range of a response with status 200 or 206 (RFC 9110, section 14.4).
// The body must not have been decoded: send Accept-Encoding: identity, or a header Range.
func RangeOf(resp *http.Response) (Range, error) {
	r := Range{End: resp.ContentLength, Size: resp.ContentLength, Version: versionOf(resp)}
	if resp.StatusCode != http.StatusPartialContent {
		return r, nil
	}
	text := resp.Header.Get("Content-Range")
	positions, size, _ := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	first, last, _ := strings.Cut(positions, "-")
	var failures [3]error
	r.First, failures[0] = position(first)
	r.End, failures[1] = position(last)
	r.End++
	if size == "*" {
		r.Size = -1
	} else {
		r.Size, failures[2] = position(size)
	}
	if errors.Join(failures[:]...) != nil || !strings.HasPrefix(text, "bytes ") || r.First >= r.End || r.Size >= 0 && r.End > r.Size {
		return r, fmt.Errorf("transfer: invalid Content-Range %q", text)
	}
	return r, nil
}

// position parses a number of RFC 9110, which has digits only.
func position(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 62)
	return int64(n), err
}

// Request sets the headers that ask for the bytes of r from position next on, if the version is
// still the same: Range and If-Range. A server that has another version responds with all of it,
// and status 200.
func (r Range) Request(h http.Header, next int64) {
	h.Set("Range", fmt.Sprintf("bytes=%d-", next))
	if r.End >= 0 && r.End != r.Size {
		h.Set("Range", fmt.Sprintf("bytes=%d-%d", next, r.End-1))
	}
	h.Set("If-Range", r.Version)
}

// Check returns an error that matches [ErrChanged] unless resp has the bytes of r from position
// next on. It compares the position, the size and, if resp has one, the version.
func (r Range) Check(resp *http.Response, next int64) error {
	if resp.StatusCode != http.StatusPartialContent {
		return fmt.Errorf("%w: %s to a request for the bytes from %d on", ErrChanged, resp.Status, next)
	}
	rest, err := RangeOf(resp)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrChanged, err)
	case rest.First != next, r.End >= 0 && rest.End > r.End:
		return fmt.Errorf("%w: the response has bytes %d to %d, not those from %d on", ErrChanged, rest.First, rest.End-1, next)
	case r.Size >= 0 && rest.Size >= 0 && rest.Size != r.Size:
		return fmt.Errorf("%w: it has %d bytes now, and had %d", ErrChanged, rest.Size, r.Size)
	case rest.Version != "" && rest.Version != r.Version:
		return fmt.Errorf("%w: its version is %s now, and was %s", ErrChanged, rest.Version, r.Version)
	}
	return nil
}

// versionOf returns the strong validator of a response, or "" if it has none: RFC 9110, sections
// 13.1.5 and 8.8.2.2.
func versionOf(resp *http.Response) string {
	tag := resp.Header.Get("Etag")
	if tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	changed := resp.Header.Get("Last-Modified")
	modified, err := http.ParseTime(changed)
	if err != nil {
		return ""
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || date.Sub(modified) < time.Second {
		return "" // the resource may have changed again within that second
	}
	return changed
}
