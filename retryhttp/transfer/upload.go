package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// An Upload sends a file to a server that can say how much of it has arrived. Begin the upload
// with a request of your own, as the server's API says: the response has the URL of the upload.
// That URL is all that you have to keep in order to go on after a restart.
//
// An Upload must not be shared by calls that run at the same time.
type Upload struct {
	// Client sends the requests. nil means http.DefaultClient. Redirects are not followed.
	Client *http.Client

	// Policy says how often to try again after a failure. The zero Policy makes two more attempts
	// after each one by which the server got more bytes. Set no AttemptTimeout: it would end a
	// healthy request.
	Policy retry.Policy

	// Protocol is how the server takes the parts of a file.
	Protocol Protocol

	// URL is that of the upload. Send changes it if the server returns another one.
	URL string

	// Part is the maximum number of bytes in a request. 0 or less means the whole rest. Google
	// requires a multiple of 256 KiB. With smaller parts, an upload needs more requests, and less
	// is sent again if a proxy holds back a request that breaks off.
	Part int64

	// OnProgress, if not nil, is called with the number of bytes that the server has, each time
	// that the server says it.
	OnProgress func(offset int64)
}

// A Protocol is a way to upload a file in parts. [Google], [Tus], [Draft] and [Registry] are
// Protocols. If a Protocol also has a method Find(req *http.Request) bool, then Send calls it after
// Ask got a 404 or 410: Find changes req into the question whether the server has the whole file,
// and returns false if there is no such question.
type Protocol interface {
	// Ask changes req into the question how many bytes of the file the server has.
	Ask(req *http.Request, size int64)

	// Append changes req, which has a body of n bytes, into one that adds them to the file at
	// offset. If n is 0, the server has all bytes, and req completes the upload.
	Append(req *http.Request, offset, n, size int64)

	// Read returns what a response says about the upload. ok is false if the response does not say
	// it. If the response to an Append does not say it and its status is below 300, the server has
	// taken all bytes of the part. Send also calls Read for the statuses 409 Conflict, 412
	// Precondition Failed, 416 Range Not Satisfiable and 423 Locked, with which servers refuse a
	// part that begins elsewhere.
	Read(resp *http.Response, size int64) (answer Answer, ok bool)
}

// An Answer is what a server says about an upload.
type Answer struct {
	Offset int64  // the number of bytes that the server has
	Done   bool   // the upload is complete
	URL    string // for the next request; "": the URL stays
}

// refusals are the statuses with which servers refuse a part that begins elsewhere, or that comes
// while they are still busy with the one before.
var refusals = map[int]bool{
	http.StatusConflict: true, http.StatusPreconditionFailed: true,
	http.StatusRequestedRangeNotSatisfiable: true, http.StatusLocked: true,
}

// Send uploads those of the size bytes of src that the server does not have. It returns the last
// response, whose body the caller has to close. If the upload was complete already, this is the
// response to the question how many bytes the server has. Send may be called again after an error,
// by this process or by another.
//
// Each part begins after the last byte that the server has, so no byte is stored twice. If src has a
// method Stat, as an *os.File has, Send returns an error if the file changes meanwhile.
func (u *Upload) Send(ctx context.Context, src io.ReaderAt, size int64) (*http.Response, error) {
	if u.Protocol == nil || size < 0 {
		return nil, fmt.Errorf("%w: transfer: an Upload needs a Protocol and a size of at least 0, which is %d", retry.ErrInvalid, size)
	}
	client := *cmp.Or(u.Client, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // Google's 308 is no redirect
	s := &sending{Upload: u, client: &client, src: &source{ReaderAt: src}, size: size, most: -1}
	err := s.src.unchanged()
	if err != nil {
		return nil, err
	}
	return retry.DoValue(ctx, u.Policy, func(ctx context.Context) (*http.Response, error) {
		before := s.most
		resp, asked, err := s.run(once(ctx, u.Policy))
		if before < 0 {
			before = asked // what was there at first is no progress; what a later question finds is
		}
		return resp, again(ctx, u.Policy, err, before >= 0 && s.most > before)
	})
}

// sending is the state of one call of Send.
type sending struct {
	*Upload
	client *http.Client
	src    *source
	size   int64
	most   int64 // the largest offset that the server has said; -1: none
}

// run asks for the offset and sends parts, until the upload is complete or a request fails. asked
// is the offset from which it goes on, or -1.
func (s *sending) run(ctx context.Context) (resp *http.Response, asked int64, err error) {
	resp, answer, err := s.ask(ctx)
	if err != nil {
		return nil, -1, err
	}
	asked = answer.Offset
	corrected := false
	for !answer.Done {
		discard(resp)
		most := s.most
		resp, answer, err = s.append(ctx, answer.Offset)
		if errfacts.Is(err, errElsewhere) && !corrected {
			corrected = true // the refusal says where the server is
			continue
		}
		if err != nil {
			return nil, asked, err
		}
		if s.most > most { // a server that goes back and forth is not followed for ever
			corrected = false
		}
	}
	err = s.src.unchanged()
	if err != nil {
		discard(resp)
		return nil, asked, err
	}
	return resp, asked, nil
}

// errElsewhere says that a part was refused, and where the next one has to begin.
var errElsewhere = errors.New("transfer: the server has another number of bytes")

// ask returns how much the server has.
func (s *sending) ask(ctx context.Context) (*http.Response, Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return nil, Answer{}, retry.Permanent(err)
	}
	s.Protocol.Ask(req, s.size)
	resp, err := send(s.client, req)
	if err != nil {
		return s.find(ctx, resp, err)
	}
	answer, ok := s.Protocol.Read(resp, s.size)
	if !ok {
		discard(resp)
		return nil, Answer{}, retry.Permanent(fmt.Errorf("transfer: the server does not say how many bytes it has: %s", resp.Status))
	}
	return resp, answer, s.note(resp, answer)
}

// find asks for the whole file, after the server has said with err that it does not know the
// upload. The response to the last part may have been lost.
func (s *sending) find(ctx context.Context, refused *http.Response, err error) (*http.Response, Answer, error) {
	finder, ok := s.Protocol.(interface{ Find(req *http.Request) bool })
	if !ok || !isGone(refused) {
		return nil, Answer{}, err
	}
	req, failure := http.NewRequestWithContext(ctx, http.MethodHead, s.URL, nil)
	if failure != nil || !finder.Find(req) {
		return nil, Answer{}, err
	}
	resp, failure := send(s.client, req)
	switch {
	case failure == nil:
		return resp, Answer{Offset: s.size, Done: true}, nil
	case isGone(resp):
		return nil, Answer{}, err // of the upload
	}
	return nil, Answer{}, failure
}

// isGone reports whether the server does not know an upload or a file.
func isGone(resp *http.Response) bool {
	return resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone)
}

// isInterrupted reports whether tusd ended a part with a 400 because another request for the same
// upload arrived. That may be an earlier part whose connection broke before its handler began.
func isInterrupted(resp *http.Response) bool {
	if resp == nil || resp.StatusCode != http.StatusBadRequest {
		return false
	}
	const code = "ERR_UPLOAD_INTERRUPTED"
	start, _ := io.ReadAll(io.LimitReader(resp.Body, int64(len(code))))
	return string(start) == code
}

// append sends the part that begins at offset.
func (s *sending) append(ctx context.Context, offset int64) (*http.Response, Answer, error) {
	err := s.src.unchanged()
	if err != nil {
		return nil, Answer{}, err
	}
	n := s.size - offset
	if s.Part > 0 {
		n = min(n, s.Part)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, s.URL, nil)
	if err != nil {
		return nil, Answer{}, retry.Permanent(err)
	}
	if n > 0 {
		req.ContentLength = n
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(s.src, offset, n)), nil }
		req.Body, _ = req.GetBody()
	}
	s.Protocol.Append(req, offset, n, s.size)
	resp, err := send(s.client, req)
	failed := s.src.failed()
	switch {
	case failed != nil:
		if err == nil {
			discard(resp)
		}
		return nil, Answer{}, failed
	case resp != nil && refusals[resp.StatusCode]:
		return s.refused(resp, offset, err)
	case isGone(resp), isInterrupted(resp):
		return nil, Answer{}, retry.Transient(err) // ask: this may be a repetition, and the first response was lost
	case err != nil:
		return nil, Answer{}, err
	}
	answer, ok := s.Protocol.Read(resp, s.size)
	if !ok {
		answer.Offset = offset + n
	}
	err = s.note(resp, answer)
	if err == nil && !answer.Done && answer.Offset <= offset {
		discard(resp)
		err = fmt.Errorf("transfer: the server took none of the %d bytes from %d on, and has %d: %s", n, offset, answer.Offset, resp.Status)
	}
	return resp, answer, err
}

// refused reads where the server is, if it has refused a part that begins at offset.
func (s *sending) refused(resp *http.Response, offset int64, err error) (*http.Response, Answer, error) {
	answer, ok := s.Protocol.Read(resp, s.size)
	if !ok || answer.Offset == offset {
		return nil, Answer{}, retry.Transient(err) // ask
	}
	err = s.note(resp, answer)
	if err != nil {
		return nil, Answer{}, err
	}
	return resp, answer, fmt.Errorf("%w: %d instead of %d", errElsewhere, answer.Offset, offset)
}

// note keeps what the server has said.
func (s *sending) note(resp *http.Response, a Answer) error {
	if a.Offset < 0 || a.Offset > s.size {
		discard(resp)
		return retry.Permanent(fmt.Errorf("transfer: the server says that it has %d bytes of %d", a.Offset, s.size))
	}
	if a.URL != "" {
		next, err := resp.Request.URL.Parse(a.URL)
		if err != nil {
			discard(resp)
			return retry.Permanent(fmt.Errorf("transfer: the server names an invalid URL: %w", err))
		}
		s.URL = next.String()
	}
	s.most = max(s.most, a.Offset)
	if s.OnProgress != nil {
		s.OnProgress(a.Offset)
	}
	return nil
}

// A source is a file whose failures end an upload: they are not the server's.
type source struct {
	io.ReaderAt
	began fs.FileInfo // nil: not known

	mu  sync.Mutex // net/http may read a body after it has returned the response
	err error
}

func (s *source) ReadAt(p []byte, offset int64) (int, error) {
	n, err := s.ReaderAt.ReadAt(p, offset)
	if n == len(p) {
		return n, nil
	}
	if errfacts.Is(err, io.EOF) {
		err = fmt.Errorf("transfer: the file ends at byte %d: %w", offset+int64(n), io.ErrUnexpectedEOF)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	return n, err
}

// failed returns why the file could not be read, or nil.
func (s *source) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return retry.Permanent(s.err)
}

// unchanged returns an error if the file is not the one that it was at first.
func (s *source) unchanged() error {
	file, ok := s.ReaderAt.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return retry.Permanent(err)
	}
	if s.began == nil {
		s.began = info
	}
	if info.Size() != s.began.Size() || !info.ModTime().Equal(s.began.ModTime()) {
		return retry.Permanent(fmt.Errorf("transfer: %s was changed at %s, while it was uploaded", info.Name(), info.ModTime().Format(time.RFC3339)))
	}
	return nil
}
