package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// A Download gets a resource. If a response breaks off or stalls, it requests the rest of the same
// version. A Download may be shared and used again, but not changed while it is in use.
type Download struct {
	// Client sends the requests. nil means http.DefaultClient.
	Client *http.Client

	// Policy says how often to try again after a failure. The zero Policy makes two more attempts
	// after each one that brought bytes. Set no AttemptTimeout: it would end a healthy response.
	Policy retry.Policy

	// URL is that of the resource. If the URL is signed for a short time, or if requests need
	// headers, let the Client's Transport change the requests.
	URL string

	// Verify, if not nil, reads the whole file after it has arrived. If Verify returns an error,
	// File begins again from nothing, as often as the Policy allows. To does not call Verify.
	Verify func(io.Reader) error
}

// SHA256 returns a function for Download.Verify that compares a file with its SHA-256 in
// hexadecimal digits.
func SHA256(sum string) func(io.Reader) error {
	return func(r io.Reader) error {
		h := sha256.New()
		_, err := io.Copy(h, r)
		if err != nil {
			return err
		}
		got := hex.EncodeToString(h.Sum(nil))
		if !strings.EqualFold(got, sum) {
			return fmt.Errorf("transfer: the SHA-256 is %s instead of %s", got, sum)
		}
		return nil
	}
}

// To writes the resource to w. If the resource changes before all of it has arrived, To returns a
// permanent error that matches [ErrChanged], because w has a part of the old one.
func (d *Download) To(ctx context.Context, w io.Writer) error {
	r := &receiving{Download: d, w: w}
	return retry.Do(ctx, d.Policy, func(ctx context.Context) error {
		before := r.have
		err := r.get(once(ctx, d.Policy))
		if errfacts.Is(err, ErrChanged) {
			return retry.Permanent(err)
		}
		return again(ctx, d.Policy, err, r.have > before)
	})
}

// File writes the resource to a file. Until all of it has arrived and Verify has returned nil,
// its bytes are in name.part and its version is in name.version. Another call of File, also by
// another process, goes on from there. If the resource has changed, File begins again.
//
// A file with that name is replaced at the end, in one step. File never overwrites a name.part or
// a name.version that it did not begin. If another program writes to its name.part, File ends with
// an error.
func (d *Download) File(ctx context.Context, name string) error {
	f, err := openPart(name, d.URL)
	if err != nil {
		return err
	}
	defer f.Close()
	r := &receiving{Download: d, w: f, have: f.size, begun: f.begun, onBegin: f.begin}
	err = retry.Do(ctx, d.Policy, func(ctx context.Context) error {
		before := r.have
		err := r.get(once(ctx, d.Policy))
		if err == nil && d.Verify != nil {
			err = d.Verify(io.NewSectionReader(f, 0, r.have))
			if err != nil {
				return errors.Join(err, r.restart(f))
			}
		}
		if errfacts.Is(err, ErrChanged) {
			return retry.Transient(errors.Join(err, r.restart(f)))
		}
		return again(ctx, d.Policy, err, r.have > before)
	})
	if err != nil {
		return err
	}
	return f.finish(name)
}

// A part is the file of a Download that has not ended.
type part struct {
	*os.File
	version string // the name of the file with the state
	url     string
	size    int64 // bytes in the file
	begun   Range
}

// A state is what name.version has, as JSON.
type state struct {
	URL   string // without its query, which may be a signature
	Range Range
}

// openPart opens name.part, which holds the bytes that have arrived so far.
func openPart(name, address string) (*part, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, retry.Permanent(err)
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	p := &part{version: name + ".version", url: u.String()}
	var kept state
	text, err := os.ReadFile(p.version)
	if err != nil && !errfacts.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(text) > 0 { // an empty one was about to be written
		err = json.Unmarshal(text, &kept)
		if err != nil || kept.URL == "" {
			return nil, fmt.Errorf("transfer: %s exists, and is not of a download", p.version)
		}
	}
	p.File, err = os.OpenFile(name+".part", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := p.Stat()
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.size = info.Size()
	switch {
	case p.size > 0 && len(text) == 0:
		return nil, errors.Join(fmt.Errorf("transfer: %s.part exists, and is not of a download: %s says nothing about it", name, p.version), p.Close())
	case kept.URL == p.url && kept.Range.Version != "":
		p.begun = kept.Range
		return p, nil
	}
	err = p.empty()
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// begin keeps the version before the first byte is written.
func (p *part) begin(r Range) error {
	text, err := json.Marshal(state{URL: p.url, Range: r})
	if err != nil {
		return err
	}
	return os.WriteFile(p.version, text, 0o666)
}

// Write appends to the file. It fails if another program has written to the file.
func (p *part) Write(b []byte) (int, error) {
	err := p.unchanged()
	if err != nil {
		return 0, err
	}
	n, err := p.WriteAt(b, p.size)
	p.size += int64(n)
	return n, err
}

// unchanged returns an error if another program has written to the file.
func (p *part) unchanged() error {
	info, err := p.Stat()
	if err != nil {
		return err
	}
	if info.Size() != p.size {
		return fmt.Errorf("transfer: another program writes to %s", p.Name())
	}
	return nil
}

func (p *part) empty() error {
	p.size = 0
	return p.Truncate(0)
}

// finish gives the file its name.
func (p *part) finish(name string) error {
	err := p.unchanged()
	if err != nil {
		return err
	}
	err = errors.Join(p.Sync(), p.Close())
	if err != nil {
		return err
	}
	err = os.Rename(p.Name(), name)
	if err != nil {
		return err
	}
	return os.Remove(p.version)
}

// receiving is the state of one call of To or File.
type receiving struct {
	*Download
	w       io.Writer
	have    int64 // bytes written
	begun   Range // of the response that began it
	onBegin func(Range) error
}

// restart forgets what has arrived.
func (r *receiving) restart(p *part) error {
	r.have = 0
	return p.empty()
}

// get requests the resource, or its rest.
func (r *receiving) get(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return retry.Permanent(err)
	}
	req.Header.Set("Accept-Encoding", "identity") // so that positions are those of the resource
	if r.have > 0 {
		if r.begun.Version == "" {
			return fmt.Errorf("%w: the server names no version", ErrChanged)
		}
		r.begun.Request(req.Header, r.have)
	}
	resp, err := send(r.Client, req)
	if r.have > 0 && resp != nil && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return r.checkEnd(resp)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = r.skip(resp)
	if err != nil {
		return err
	}
	w := &sink{Writer: r.w}
	n, err := io.Copy(w, resp.Body)
	r.have += n
	if w.err != nil {
		return retry.Permanent(w.err)
	}
	return err
}

// checkEnd returns nil if a server that has no further bytes has as many as have arrived.
func (r *receiving) checkEnd(resp *http.Response) error {
	said := resp.Header.Get("Content-Range")
	if said == fmt.Sprintf("bytes */%d", r.have) {
		return nil
	}
	return fmt.Errorf("%w: %d bytes have arrived, and the server has %q", ErrChanged, r.have, said)
}

// skip makes the body of a response begin at the bytes that are missing.
func (r *receiving) skip(resp *http.Response) error {
	if r.have > 0 && resp.StatusCode == http.StatusPartialContent {
		return r.begun.Check(resp, r.have)
	}
	whole, err := RangeOf(resp)
	switch {
	case err != nil || whole.First > 0:
		return retry.Permanent(fmt.Errorf("transfer: the response begins at byte %d", whole.First))
	case r.have == 0:
		r.begun = whole
		if r.onBegin != nil {
			return r.onBegin(whole)
		}
		return nil
	case whole.Version == "" || whole.Version != r.begun.Version:
		return ErrChanged
	}
	_, err = io.CopyN(io.Discard, resp.Body, r.have) // the server ignores Range
	return err
}

// A sink notes a failure that is not the server's.
type sink struct {
	io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.err = err
	return n, err
}
