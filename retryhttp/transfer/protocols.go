package transfer

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Google is the protocol of Google's resumable uploads: a PUT with a Content-Range, and a 308
// with a Range. The URL is the session URI, in the Location of the response that began the upload.
type Google struct{}

// Ask implements [Protocol].
func (Google) Ask(req *http.Request, size int64) {
	req.Method = http.MethodPut
	req.Header.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
}

// Append implements [Protocol].
func (g Google) Append(req *http.Request, offset, n, size int64) {
	g.Ask(req, size)
	if n > 0 {
		req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", offset, offset+n-1, size))
	}
}

// Read implements [Protocol].
func (Google) Read(resp *http.Response, size int64) (Answer, bool) {
	switch resp.StatusCode {
	case http.StatusOK, http.StatusCreated:
		return Answer{Offset: size, Done: true}, true
	case http.StatusPermanentRedirect:
		if resp.Header.Get("Range") == "" { // it has none
			return Answer{}, true
		}
		offset, ok := afterRange(resp, "bytes=")
		return Answer{Offset: offset}, ok
	}
	return Answer{}, false
}

// Tus is the protocol tus 1.0. The URL is the Location of the response that created the upload.
type Tus struct{}

// Ask implements [Protocol].
func (Tus) Ask(req *http.Request, size int64) {
	req.Method = http.MethodHead
	req.Header.Set("Tus-Resumable", "1.0.0")
}

// Append implements [Protocol].
func (Tus) Append(req *http.Request, offset, n, size int64) {
	req.Method = http.MethodPatch
	req.Header.Set("Tus-Resumable", "1.0.0")
	req.Header.Set("Content-Type", "application/offset+octet-stream")
	req.Header.Set("Upload-Offset", strconv.FormatInt(offset, 10))
}

// Read implements [Protocol].
func (Tus) Read(resp *http.Response, size int64) (Answer, bool) {
	offset, ok := uploadOffset(resp)
	return Answer{Offset: offset, Done: ok && offset == size && resp.StatusCode < 300}, ok
}

// Draft is the protocol of draft-ietf-httpbis-resumable-upload. The URL is the Location of a
// response to a request that began the upload.
type Draft struct {
	// Version is the Upload-Draft-Interop-Version. 0 means none.
	Version int
}

// Ask implements [Protocol].
func (d Draft) Ask(req *http.Request, size int64) {
	req.Method = http.MethodHead
	if d.Version > 0 {
		req.Header.Set("Upload-Draft-Interop-Version", strconv.Itoa(d.Version))
	}
}

// Append implements [Protocol].
func (d Draft) Append(req *http.Request, offset, n, size int64) {
	d.Ask(req, size)
	req.Method = http.MethodPatch
	req.Header.Set("Content-Type", "application/partial-upload")
	req.Header.Set("Upload-Offset", strconv.FormatInt(offset, 10))
	complete := "?0"
	if offset+n == size {
		complete = "?1"
	}
	req.Header.Set("Upload-Complete", complete)
}

// Read implements [Protocol].
func (Draft) Read(resp *http.Response, size int64) (Answer, bool) {
	sent := resp.Request.Header.Get("Upload-Complete")
	complete := resp.Header.Get("Upload-Complete")
	if resp.StatusCode < 300 && (complete == "?1" || complete == "" && sent == "?1") {
		return Answer{Offset: size, Done: true}, true
	}
	offset, ok := uploadOffset(resp)
	return Answer{Offset: offset}, ok
}

// Registry is the protocol of the OCI distribution specification for a blob. The URL is the
// Location of the response that began the upload.
//
// The reference implementation does not lock an upload. If a part breaks off and the next one
// arrives before the registry has noticed it, the bytes mix. The registry finds that at the end,
// by the digest, and the upload fails. So let the Policy wait between attempts.
type Registry struct {
	// Digest is that of the whole blob, such as "sha256:…". It completes the upload.
	Digest string

	// Blob is the URL of the blob after the upload. If the response that completes the upload is
	// lost, the registry does not know the upload any more, and Send asks whether the blob is there.
	// "" means the usual one, /v2/NAME/blobs/DIGEST beside /v2/NAME/blobs/uploads/ID.
	Blob string
}

// Ask implements [Protocol].
func (Registry) Ask(req *http.Request, size int64) { req.Method = http.MethodGet }

// Find asks for the blob. See [Protocol].
func (r Registry) Find(req *http.Request) bool {
	req.Method = http.MethodHead
	if r.Blob != "" {
		blob, err := req.URL.Parse(r.Blob)
		if err != nil {
			return false
		}
		req.URL = blob
		return true
	}
	repository, _, ok := strings.Cut(req.URL.Path, "/blobs/uploads/")
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery = repository+"/blobs/"+r.Digest, "", ""
	return ok
}

// Append implements [Protocol].
func (r Registry) Append(req *http.Request, offset, n, size int64) {
	if n == 0 {
		req.Method = http.MethodPut
		query := req.URL.Query()
		query.Set("digest", r.Digest)
		req.URL.RawQuery = query.Encode()
		return
	}
	req.Method = http.MethodPatch
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Content-Range", fmt.Sprintf("%d-%d", offset, offset+n-1))
}

// Read implements [Protocol].
func (Registry) Read(resp *http.Response, size int64) (Answer, bool) {
	answer := Answer{URL: resp.Header.Get("Location")}
	switch {
	case resp.StatusCode == http.StatusCreated:
		return Answer{Offset: size, Done: true}, true
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		// Registries say 0-0 if they have no byte, and also if they have one. The part that begins
		// at 0 was refused, so there is one.
		answer.Offset = 1
		return answer, strings.HasPrefix(resp.Request.Header.Get("Content-Range"), "0-")
	case resp.StatusCode >= 300:
		return Answer{}, false
	case resp.Header.Get("Range") == "0-0" && resp.Request.Method != http.MethodPatch:
		return answer, true
	}
	var ok bool
	answer.Offset, ok = afterRange(resp, "")
	return answer, ok
}

// afterRange returns the offset after a Range that begins at 0.
func afterRange(resp *http.Response, unit string) (int64, bool) {
	last, ok := strings.CutPrefix(resp.Header.Get("Range"), unit+"0-")
	n, err := strconv.ParseInt(last, 10, 64)
	return n + 1, ok && err == nil && n >= -1
}

func uploadOffset(resp *http.Response) (int64, bool) {
	n, err := strconv.ParseInt(cmp.Or(resp.Header.Get("Upload-Offset"), "-1"), 10, 64)
	return n, err == nil && n >= 0
}
