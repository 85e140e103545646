// Package transfer uploads and downloads files in as many requests as that takes. After a
// failure, an upload sends only what the server does not have, and a download requests only the
// rest.
//
//	up := &transfer.Upload{Client: client, Protocol: transfer.Tus{}, URL: url}
//	resp, err := up.Send(ctx, file, size)
//
//	down := &transfer.Download{Client: client, URL: url, Verify: transfer.SHA256(sum)}
//	err := down.File(ctx, "model.bin")
//
// The client should have a [retryhttp.Transport] with a StallTimeout and a FirstByteTimeout, so
// that a transfer that stalls ends. The Policy of the Upload or the Download replaces that of the
// Transport. It counts attempts from the last one that brought bytes.
//
// Parts that do not depend on each other, such as those of S3 and the blocks of Azure, need
// nothing of this package. Each part is a PUT that may be repeated.
package transfer

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// again returns err for a loop that goes on from another offset. So a request that must not be
// repeated as it is may be continued, and a client that has given up counts as one failure. grown
// says that bytes have arrived since the last failure.
func again(ctx context.Context, p retry.Policy, err error, grown bool) error {
	if err == nil {
		return nil
	}
	v := p.Classify(err)
	if ctx.Err() == nil && (v.GaveUp || v.Unrepeatable) {
		v.GaveUp, v.Unrepeatable = false, false
		err = retry.WithVerdict(err, v)
	}
	if grown {
		return retry.Progress(err)
	}
	return err
}

// once returns a context for requests that a Transport sends once. Otherwise the waits of two
// loops would add up.
func once(ctx context.Context, p retry.Policy) context.Context {
	return retryhttp.WithPolicy(ctx, retry.Policy{MaxAttempts: retry.NoRetry, Clock: p.Clock})
}

// send sends a request and returns the error of the response's status. Then the Body of the
// response is what its server has said about the error, and needs no Close.
func send(client *http.Client, req *http.Request) (*http.Response, error) {
	resp, err := cmp.Or(client, http.DefaultClient).Do(req)
	if err != nil {
		return nil, err
	}
	err = retryhttp.CheckStatus(resp)
	if err != nil {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		discard(resp)
		resp.Body = io.NopCloser(bytes.NewReader(said))
	}
	return resp, err
}

// discard reads the rest of a short body, so that its connection can be used again.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	_ = resp.Body.Close()
}
