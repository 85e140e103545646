package body

import (
	"bytes"
	"io"
	"net/http"
)

func sameBody(req *http.Request, packed *bytes.Buffer) {
	body := io.NopCloser(packed)
	req.Body = body
	req.GetBody = func() (io.ReadCloser, error) { return body, nil } // want `this is the reader that the first attempt has read to its end: return a new one`
}

func newBody(req *http.Request, content []byte) {
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
}
