package retryhttp_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var errGraphQL = errors.New("errors in the response")

// TestCheck: a response that only looks like success is a failure, and comes back
// untouched if it is the last one.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, method string
		found        error
		sent         int
	}{
		{"nothing", "GET", nil, 1},
		{"failure, GET", "GET", errGraphQL, 3},
		{"failure, POST", "POST", errGraphQL, 1},
		{"throttled, POST", "POST", retry.Throttled(errGraphQL), 3},
		{"permanent", "GET", retry.Permanent(errGraphQL), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, p := &script{replies: []reply{{status: 200}}}, quick()
			var seen []error
			p.Classifier = retry.FirstOf(retry.ClassifierFunc(func(err error) retry.Class {
				seen = append(seen, err)
				return retry.ClassUnknown
			}), retry.DefaultClassifier{})
			resp, err := (&retryhttp.Transport{Base: base, Policy: p, Check: func(resp *http.Response, peek func(int) ([]byte, error)) error {
				data, err := peek(3)
				require.NoError(t, err)
				assert.Equal(t, "ans", string(data))
				data, err = peek(1000)
				require.NoError(t, err)
				assert.Contains(t, string(data), "answer ")
				data, err = peek(2)
				require.NoError(t, err)
				assert.Equal(t, "an", string(data))
				return tt.found
			}}).RoundTrip(request(t, tt.method, "content"))
			require.NoError(t, err)
			assert.Len(t, base.requests, tt.sent)
			data, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Contains(t, []string{"answer 1", "answer 3"}, string(data))
			require.NoError(t, resp.Body.Close())
			for _, answer := range base.answers {
				assert.Equal(t, 1, answer.closed)
			}
			for _, err := range seen {
				assert.ErrorIs(t, err, errGraphQL)
				e, ok := errors.AsType[*retryhttp.StatusError](err)
				require.True(t, ok)
				assert.Equal(t, 200, e.HTTPStatusCode())
			}
		})
	}
}

// TestCheckStatuses: a Check sees failures, too, and what it finds goes before the
// status; what it does not find leaves the status to decide.
func TestCheckStatuses(t *testing.T) {
	for _, tt := range []struct {
		status int
		found  error
		sent   int
	}{
		{403, nil, 1},
		{403, retry.Throttled(errGraphQL), 3},
		{503, nil, 3},
		{503, retry.Permanent(errGraphQL), 1},
		{403, errGraphQL, 1}, // not marked, so the status says what it is
	} {
		base := &script{replies: []reply{{status: tt.status}}}
		check := func(*http.Response, func(int) ([]byte, error)) error { return tt.found }
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), Check: check}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		assert.Equal(t, tt.status, resp.StatusCode)
		assert.Len(t, base.requests, tt.sent, "%d %v", tt.status, tt.found)
	}
}

// TestCheckBodies: bodies that cannot be read, and those that nobody looks at.
func TestCheckBodies(t *testing.T) {
	send := func(check func(*http.Response, func(int) ([]byte, error)) error, bodies ...io.Reader) (*http.Response, error) {
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			next := io.NopCloser(bodies[0])
			bodies = bodies[1:]
			return &http.Response{StatusCode: 200, Body: next}, nil
		})
		return (&retryhttp.Transport{Base: base, Policy: quick(), Check: check}).RoundTrip(request(t, "GET", ""))
	}
	peeks := func(_ *http.Response, peek func(int) ([]byte, error)) error {
		_, err := peek(100)
		return err
	}
	cut := func() io.Reader {
		return io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	t.Run("cut off, then whole", func(t *testing.T) {
		resp, err := send(peeks, cut(), strings.NewReader("content"))
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "content", string(data))
	})
	t.Run("cut off at last", func(t *testing.T) {
		resp, err := send(peeks, cut(), cut(), cut())
		require.NoError(t, err)
		data, err := io.ReadAll(iotest.OneByteReader(resp.Body))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, "abc", string(data))
	})
	t.Run("longer than what is looked at", func(t *testing.T) {
		long := strings.Repeat("0123456789", 1000)
		resp, err := send(peeks, strings.NewReader(long))
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.True(t, long == string(data))
	})
	t.Run("nobody looks", func(t *testing.T) {
		body := bytes.NewBufferString("content")
		resp, err := send(func(*http.Response, func(int) ([]byte, error)) error { return nil }, body)
		require.NoError(t, err)
		assert.Equal(t, io.NopCloser(body), resp.Body, "it is the body that came")
		assert.Equal(t, 7, body.Len())
	})
}
