package transfer_test

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp/transfer"
)

func response(status int, length int64, headers map[string]string) *http.Response {
	resp := &http.Response{StatusCode: status, ContentLength: length, Header: http.Header{}}
	for name, value := range headers {
		resp.Header.Set(name, value)
	}
	return resp
}

func TestRangeOf(t *testing.T) {
	const date, later = "Sat, 28 Nov 2026 10:00:00 GMT", "Sat, 28 Nov 2026 10:00:01 GMT"
	for name, tt := range map[string]struct {
		resp    *http.Response
		want    transfer.Range
		invalid bool
	}{
		"whole":               {resp: response(200, 10, nil), want: transfer.Range{End: 10, Size: 10}},
		"of unknown length":   {resp: response(200, -1, nil), want: transfer.Range{End: -1, Size: -1}},
		"a part":              {resp: response(206, 3, map[string]string{"Content-Range": "bytes 4-6/10"}), want: transfer.Range{First: 4, End: 7, Size: 10}},
		"of unknown size":     {resp: response(206, 3, map[string]string{"Content-Range": "bytes 4-6/*"}), want: transfer.Range{First: 4, End: 7, Size: -1}},
		"an ETag":             {resp: response(200, 1, map[string]string{"Etag": `"1"`}), want: transfer.Range{End: 1, Size: 1, Version: `"1"`}},
		"a weak ETag":         {resp: response(200, 1, map[string]string{"Etag": `W/"1"`}), want: transfer.Range{End: 1, Size: 1}},
		"a date":              {resp: response(200, 1, map[string]string{"Last-Modified": date, "Date": later}), want: transfer.Range{End: 1, Size: 1, Version: date}},
		"a date of this time": {resp: response(200, 1, map[string]string{"Last-Modified": date, "Date": date}), want: transfer.Range{End: 1, Size: 1}},
		"no Content-Range":    {resp: response(206, 3, nil), invalid: true},
		"other units":         {resp: response(206, 3, map[string]string{"Content-Range": "items 4-6/10"}), invalid: true},
		"beyond the end":      {resp: response(206, 3, map[string]string{"Content-Range": "bytes 4-10/10"}), invalid: true},
		"the wrong way round": {resp: response(206, 3, map[string]string{"Content-Range": "bytes 6-4/10"}), invalid: true},
		"a sign":              {resp: response(206, 3, map[string]string{"Content-Range": "bytes +4-6/10"}), invalid: true},
		"an overflow":         {resp: response(206, 3, map[string]string{"Content-Range": "bytes 4-18446744073709551615/*"}), invalid: true},
	} {
		got, err := transfer.RangeOf(tt.resp)
		if tt.invalid {
			assert.ErrorContains(t, err, "invalid Content-Range", name)
			continue
		}
		assert.NoError(t, err, name)
		assert.Equal(t, tt.want, got, name)
	}
}

func TestRangeCheck(t *testing.T) {
	begun := transfer.Range{First: 100, End: 200, Size: 1000, Version: `"1"`}
	h := http.Header{}
	begun.Request(h, 150)
	assert.Equal(t, http.Header{"Range": {"bytes=150-199"}, "If-Range": {`"1"`}}, h)
	transfer.Range{End: 10, Size: 10, Version: `"1"`}.Request(h, 5)
	assert.Equal(t, "bytes=5-", h.Get("Range"))
	for name, tt := range map[string]struct {
		status  int
		headers map[string]string
		changed bool
	}{
		"the rest":            {status: 206, headers: map[string]string{"Content-Range": "bytes 150-199/1000", "Etag": `"1"`}},
		"a part of the rest":  {status: 206, headers: map[string]string{"Content-Range": "bytes 150-159/1000"}},
		"size not said":       {status: 206, headers: map[string]string{"Content-Range": "bytes 150-199/*"}},
		"all of it":           {status: 200, changed: true},
		"other bytes":         {status: 206, headers: map[string]string{"Content-Range": "bytes 149-199/1000"}, changed: true},
		"more than was begun": {status: 206, headers: map[string]string{"Content-Range": "bytes 150-200/1000"}, changed: true},
		"another size":        {status: 206, headers: map[string]string{"Content-Range": "bytes 150-199/1001"}, changed: true},
		"another version":     {status: 206, headers: map[string]string{"Content-Range": "bytes 150-199/1000", "Etag": `"2"`}, changed: true},
		"no Content-Range":    {status: 206, changed: true},
	} {
		err := begun.Check(response(tt.status, -1, tt.headers), 150)
		if tt.changed {
			assert.ErrorIs(t, err, transfer.ErrChanged, name)
		} else {
			assert.NoError(t, err, name)
		}
	}
}

// A ring is an error that wraps itself.
type ring struct{}

func (*ring) Error() string   { return "ring" }
func (r *ring) Unwrap() error { return r }

// TestEndlessErrors: an error that wraps itself ends a transfer like any other.
func TestEndlessErrors(t *testing.T) {
	endless := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, &ring{} })}
	down := &transfer.Download{Client: endless, URL: "http://example.com/", Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	assert.ErrorContains(t, down.To(t.Context(), io.Discard), "ring")
	assert.ErrorContains(t, down.File(t.Context(), filepath.Join(t.TempDir(), "f")), "ring")
	up := &transfer.Upload{Client: endless, URL: "http://example.com/", Protocol: transfer.Tus{}, Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	_, err := up.Send(t.Context(), bytes.NewReader(content(100)), 100)
	assert.ErrorContains(t, err, "ring")
	s := newStore(t, false, 100, func(int) string { return "" })
	up = &transfer.Upload{Client: s.client(), URL: s.URL + "/tus", Protocol: transfer.Tus{}, Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	_, err = up.Send(t.Context(), failing{&ring{}}, 100)
	assert.ErrorContains(t, err, "ring")
}
