package retryhttp

import (
	"context"
	"io"
	"net/http"
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
