package retryaws_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

func silent(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func endless(req *http.Request) (*http.Response, error) {
	resp, err := ok(req)
	resp.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
		<-req.Context().Done()
		return 0, req.Context().Err()
	}))
	return resp, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestAttemptTimeout: an attempt that takes too long, even while reading the response
// body, is a timeout and not a cancellation.
func TestAttemptTimeout(t *testing.T) {
	for name, hang := range map[string]step{"no response": silent, "no end": endless} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var classes []retry.Class
				p := retry.Policy{
					Backoff: retry.Constant(time.Second), AttemptTimeout: time.Minute,
					Hooks: retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
						classes = append(classes, failed.Class)
					}},
				}
				transport := newScript(hang, hang, ok)
				c := newDynamoDB(t, transport, asMiddleware, p)
				start := time.Now()
				require.NoError(t, getItem(t.Context(), c))
				assert.Equal(t, 2*time.Minute+2*time.Second, time.Since(start))
				assert.Equal(t, []retry.Class{retry.ClassTimeout, retry.ClassTimeout}, classes)

				transport.rewrite(hang)
				err := getItem(t.Context(), c)
				assert.ErrorIs(t, err, retry.ErrMaxAttempts)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.NotErrorIs(t, err, context.Canceled)
				assert.ErrorContains(t, err, "attempt timed out after 1m0s")
				for _, req := range transport.requests {
					assert.Error(t, req.Context().Err(), "released")
				}
			})
		})
	}
}

func TestAttemptTimeoutLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Hour)
			return ok(req)
		}
		transport := newScript(late, ok)
		p := retry.Policy{Backoff: retry.NoDelay{}, AttemptTimeout: time.Minute}
		require.NoError(t, getItem(t.Context(), newDynamoDB(t, transport, asMiddleware, p)))
		assert.Equal(t, 2, transport.count())

		transport.rewrite(late)
		err := getItem(t.Context(), newDynamoDB(t, transport, asMiddleware, p))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "attempt timed out after 1m0s")
	})
}

// TestAttemptTimeoutCanceled: if the caller's context ends within an attempt, the call is
// canceled, even if the time limit has passed, too.
func TestAttemptTimeoutCanceled(t *testing.T) {
	late := func(req *http.Request) (*http.Response, error) {
		time.Sleep(time.Hour)
		return nil, req.Context().Err()
	}
	for name, s := range map[string]step{"in time": silent, "too late": late} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				transport := newScript(s)
				err := getItem(ctx, newDynamoDB(t, transport, asMiddleware, retry.Policy{AttemptTimeout: time.Minute}))
				assert.ErrorIs(t, err, context.Canceled)
				assert.NotErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, 1, transport.count())
			})
		})
	}
}

func TestAttemptTimeoutReleases(t *testing.T) {
	transport := newScript(unavailable, ok)
	require.NoError(t, getItem(t.Context(), newDynamoDB(t, transport, asMiddleware, retry.Policy{Backoff: retry.NoDelay{}, AttemptTimeout: time.Hour})))
	require.Equal(t, 2, transport.count())
	for _, req := range transport.requests {
		assert.ErrorIs(t, req.Context().Err(), context.Canceled)
	}
}

// TestAttemptTimeoutStream: a streamed body may be read without limit, and closing it ends
// the attempt's context.
func TestAttemptTimeoutStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := newScript(respond(200, "content"))
		c := newS3(t, transport, asMiddleware, retry.Policy{AttemptTimeout: time.Second})
		out, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")})
		require.NoError(t, err)
		time.Sleep(time.Hour)
		ctx := transport.requests[0].Context()
		assert.NoError(t, ctx.Err())
		content, err := io.ReadAll(out.Body)
		require.NoError(t, err)
		assert.Equal(t, "content", string(content))
		require.NoError(t, out.Body.Close())
		assert.ErrorIs(t, ctx.Err(), context.Canceled)
	})
}
