package retryaws_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws"
)

func newS3(t testing.TB, transport aws.HTTPClient, f form, p retry.Policy) *s3.Client {
	return s3.New(s3.Options{
		Region:       "us-east-1",
		Credentials:  credentials,
		BaseEndpoint: aws.String("http://127.0.0.1:1"),
		UsePathStyle: true,
		HTTPClient:   transport,
		Retryer:      f.retryer(t, p),
		APIOptions:   f.options(p),
	})
}

func object(body io.Reader) *s3.PutObjectInput {
	return &s3.PutObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key"), Body: body}
}

func TestInvalidPolicy(t *testing.T) {
	transport := newScript(ok)
	err := getItem(t.Context(), newDynamoDB(t, transport, asMiddleware, retry.Policy{MaxAttempts: -1}))
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Zero(t, transport.count())
}

func TestRequestHeader(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		for attempts, format := range map[int]string{0: "attempt=%d; max=3", math.MaxInt: "attempt=%d"} {
			transport := newScript(unavailable, throttled, ok)
			require.NoError(t, getItem(t.Context(), newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: attempts})))
			for i, req := range transport.requests {
				assert.Equal(t, fmt.Sprintf(format, i+1), req.Header.Get("Amz-Sdk-Request"))
			}
		}
	})
}

// TestRewind: every attempt sends the body from its initial position.
func TestRewind(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		var sent []string
		read := func(then step) step {
			return func(req *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(req.Body)
				sent = append(sent, string(body))
				assert.NoError(t, err)
				return then(req)
			}
		}
		half := func(req *http.Request) (*http.Response, error) {
			_, err := io.CopyN(io.Discard, req.Body, 2)
			return nil, errors.Join(err, io.ErrUnexpectedEOF)
		}
		body := strings.NewReader("skipped body")
		_, err := body.Seek(int64(len("skipped ")), io.SeekStart)
		require.NoError(t, err)
		c := newS3(t, newScript(read(unavailable), half, read(ok)), f, retry.Policy{Backoff: retry.NoDelay{}})
		_, err = c.PutObject(t.Context(), object(body))
		require.NoError(t, err)
		assert.Equal(t, []string{"body", "body"}, sent)
	})
}

func TestRewindOnce(t *testing.T) {
	transport := newScript(unavailable)
	c := newS3(t, transport, asMiddleware, retry.Policy{Backoff: retry.NoDelay{}})
	_, err := c.PutObject(t.Context(), object(io.MultiReader(strings.NewReader("body"))), func(o *s3.Options) {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.APIOptions = append(o.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
	})
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.ErrorContains(t, err, "the body of the request cannot be rewound: pass an io.ReadSeeker")
	assertAPIError(t, err, "ServiceUnavailable")
	require.Equal(t, 1, transport.count())
	assert.Equal(t, "attempt=1; max=1", transport.requests[0].Header.Get("Amz-Sdk-Request"))
}

type fragile struct {
	*bytes.Reader
	broken error
}

func (f *fragile) Seek(offset int64, whence int) (int64, error) {
	if f.broken != nil {
		return 0, f.broken
	}
	return f.Reader.Seek(offset, whence)
}

// TestRewindFails: if rewinding fails, the call ends with that error and the last failure.
func TestRewindFails(t *testing.T) {
	body := &fragile{Reader: bytes.NewReader([]byte("body"))}
	transport := newScript(func(req *http.Request) (*http.Response, error) {
		body.broken = errors.New("cannot seek")
		return unavailable(req)
	})
	_, err := newS3(t, transport, asMiddleware, retry.Policy{Backoff: retry.NoDelay{}}).PutObject(t.Context(), object(body))
	assert.ErrorIs(t, err, body.broken)
	assertAPIError(t, err, "ServiceUnavailable")
	assert.Equal(t, 1, transport.count())
}

func TestPresign(t *testing.T) {
	transport := newScript(ok)
	presigner := s3.NewPresignClient(newS3(t, transport, asMiddleware, retry.Policy{AttemptTimeout: time.Second}))
	req, err := presigner.PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")})
	require.NoError(t, err)
	assert.Contains(t, req.URL, "X-Amz-Signature")
	assert.Zero(t, transport.count())
}

func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		note := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
		type key struct{}
		transport := newScript(func(req *http.Request) (*http.Response, error) {
			note("request of %v", req.Context().Value(key{}))
			return throttled(req)
		})
		err := getItem(t.Context(), newDynamoDB(t, transport, asMiddleware, retry.Policy{
			Backoff: retry.Constant(time.Second), MaxAttempts: 9, MaxElapsed: 1500 * time.Millisecond,
			Hooks: retry.Hooks{
				OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
					return context.WithValue(ctx, key{}, a.Number), func(a retry.Attempt) { note("end of %d, %v", a.Number, a.Class) }
				},
				OnRetry:  func(_ context.Context, _ retry.Attempt, wait time.Duration) { note("wait %v", wait) },
				OnGiveUp: func(_ context.Context, e *retry.Error) { note("%v", e.Reason) },
			},
		}))
		var gaveUp *retry.Error
		require.ErrorAs(t, err, &gaveUp)
		assert.Equal(t, 2, gaveUp.Attempts)
		assertAPIError(t, err, "ProvisionedThroughputExceededException")
		assert.Equal(t, []string{
			"request of 1", "end of 1, throttled", "wait 1s",
			"request of 2", "end of 2, throttled", retry.ErrMaxElapsed.Error(),
		}, seen)
	})
}

// TestWrongClock: the server's clock is an hour ahead. The first attempt measures that, and
// later attempts and calls are signed with the server's time.
func TestWrongClock(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		strict := func(req *http.Request) (*http.Response, error) {
			now := time.Now().Add(time.Hour)
			signed, err := time.Parse("20060102T150405Z", req.Header.Get("X-Amz-Date"))
			require.NoError(t, err)
			if now.Sub(signed).Abs() > 5*time.Minute {
				return respond(400, `{"__type":"InvalidSignatureException"}`, "Date", now.UTC().Format(http.TimeFormat))(req)
			}
			return respond(200, "{}", "Date", now.UTC().Format(http.TimeFormat))(req)
		}
		transport := newScript(strict)
		c := newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}})
		require.NoError(t, getItem(t.Context(), c))
		assert.Equal(t, 2, transport.count())
		require.NoError(t, getItem(t.Context(), c))
		assert.Equal(t, 3, transport.count())
	})
}

// TestOwnClock: a stack whose loop has no clock of a client corrects at least its own call.
func TestOwnClock(t *testing.T) {
	transport := newScript(respond(400, `{"__type":"InvalidSignatureException"}`, "Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), ok)
	c := newDynamoDB(t, transport, asMiddleware, retry.Policy{Backoff: retry.NoDelay{}})
	_, err := c.ListTables(t.Context(), nil, func(o *dynamodb.Options) {
		o.APIOptions = append([]func(*middleware.Stack) error{func(s *middleware.Stack) error {
			_, err := s.Finalize.Swap("Retry", sdkretry.NewAttemptMiddleware(aws.NopRetryer{}, smithyhttp.RequestCloner))
			return err
		}}, o.APIOptions...)
	})
	require.NoError(t, err)
	signed, err := time.Parse("20060102T150405Z", transport.requests[1].Header.Get("X-Amz-Date"))
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Hour), signed, time.Minute)
}

func TestUnknownRequest(t *testing.T) {
	stack := middleware.NewStack("test", func() any { return "request" })
	require.NoError(t, stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("Retry", nil), middleware.After))
	require.NoError(t, retryaws.WithPolicy(retry.Policy{})(stack))
	handler := middleware.DecorateHandler(middleware.HandlerFunc(nil), stack)
	_, _, err := handler.Handle(t.Context(), nil)
	assert.EqualError(t, err, "retryaws: request of unknown type string")
}

// TestTwice: if WithPolicy is applied twice, for example by a client and by one of its
// calls, the last policy wins.
func TestTwice(t *testing.T) {
	transport := newScript(unavailable)
	c := newS3(t, transport, asMiddleware, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 5, AttemptTimeout: time.Hour})
	_, err := c.ListBuckets(t.Context(), nil, func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2, AttemptTimeout: time.Hour}))
	})
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 2, transport.count())
}
