package retryhttp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

type readKey struct{}

// Read sends req with client and returns the response, whose body is closed, and its
// content. If the Transport of client is a [Transport], the content is read within the
// attempt: if it breaks off, the attempt has failed, and is retried if the request may
// be executed twice, under the same Policy, Budget and hooks. Otherwise the error
// matches [retry.ErrUnrepeatable]: the server has executed the request. The attempt's
// time limit includes the reading. Read closes a connection that has switched protocols,
// and ignores Transport.Resume. If the content is longer than Transport.MaxRead, Read
// returns a permanent error; without a Transport, it has no limit.
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

// read reads the body of the response into memory.
func (c *call) read(ctx, limited context.Context) error {
	most := cmp.Or(c.transport.MaxRead, defaultMaxRead)
	if most < 0 {
		most = math.MaxInt64 - 1
	}
	if c.response.ContentLength > most {
		return c.tooLong(most)
	}
	content, err := io.ReadAll(io.LimitReader(c.response.Body, most+1))
	switch {
	case err != nil:
		return c.brokeOff(ctx, limited, len(content), err)
	case int64(len(content)) > most:
		return c.tooLong(most)
	}
	_ = c.response.Body.Close()
	c.response.Body = io.NopCloser(bytes.NewReader(content))
	return nil
}

const defaultMaxRead = 64 << 20

func (c *call) tooLong(most int64) error {
	_ = c.response.Body.Close()
	c.response = nil
	c.err = fmt.Errorf("retryhttp: the content is longer than %d bytes: see Transport.MaxRead", most)
	return retry.Permanent(c.err)
}

// brokeOff returns the error of an attempt whose response broke off after n bytes.
func (c *call) brokeOff(ctx, limited context.Context, n int, err error) error {
	if limited.Err() != nil && ctx.Err() == nil {
		err = &errfacts.Overtime{Err: err, Limit: c.limit}
	}
	_ = c.response.Body.Close()
	c.response, c.cause, c.ambiguous = nil, err, true
	c.err = fmt.Errorf("the response broke off after %d bytes: %w", n, err)
	return c.unlessUnrepeatable(&attemptError{c.err, c.info()}, c.mayRepeat)
}
