package retryhttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/gobackoff/retry"
)

type readKey struct{}

// Read sends req with client and returns the response, whose body is closed, and its
// content. If the Transport of client is a [Transport], the content is read within the
// attempt: if it breaks off, the attempt has failed, and is retried if the request may
// be executed twice, under the same Policy, Budget and hooks. Otherwise the error
// matches [retry.ErrUnrepeatable]: the server has executed the request. The attempt's
// time limit includes the reading. Read closes a connection that has switched protocols.
//
// If the content is longer than 64 MiB, or than Transport.MaxRead if that is more, Read
// returns a permanent error. If the Transport of client is of another type, there is no limit.
//
// Transport.MaxRead does the same for requests that others make, such as an SDK. Read is for
// requests that must not be repeated, too, and waits for the whole content.
func Read(client *http.Client, req *http.Request) (*http.Response, []byte, error) {
	resp, err := client.Do(req.WithContext(context.WithValue(req.Context(), readKey{}, true)))
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, nil, nil
	}
	content, err := io.ReadAll(resp.Body)
	return resp, content, err
}

// readWhole reads the body of the response for Read.
func (c *call) readWhole(ctx, limited context.Context) error {
	most := max(c.transport.MaxRead, defaultMaxRead)
	if c.response.Body == http.NoBody {
		return nil // the declared length may be that of a GET
	}
	if c.response.ContentLength > most {
		return c.tooLong(most)
	}
	body := &aheadBody{ReadCloser: c.response.Body, most: most}
	body.fill(c.response.ContentLength)
	if body.err != nil && body.err != io.EOF {
		return c.brokeOff(ctx, limited, len(body.data), body.err)
	}
	if body.err == nil {
		return c.tooLong(most)
	}
	c.haveRead(body)
	return nil
}

const defaultMaxRead = 64 << 20

func (c *call) tooLong(most int64) error {
	_ = c.response.Body.Close()
	c.response = nil
	c.err = fmt.Errorf("retryhttp: the content is longer than %d bytes: see Transport.MaxRead", most)
	return retry.Permanent(c.err)
}

// haveRead replaces the body of the response, which has been read to its end.
func (c *call) haveRead(body *aheadBody) {
	_ = body.ReadCloser.Close()
	c.response.Body = io.NopCloser(bytes.NewReader(body.data))
}

// brokeOff returns the error of an attempt whose response broke off after n bytes.
func (c *call) brokeOff(ctx, limited context.Context, n int, err error) error {
	err = c.endedBy(ctx, limited, err)
	_ = c.response.Body.Close()
	c.response, c.cause, c.ambiguous = nil, err, true
	c.err = fmt.Errorf("the response broke off after %d bytes: %w", n, err)
	return c.unlessUnrepeatable(&attemptError{c.err, c.info()}, c.mayRepeat)
}
