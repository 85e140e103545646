package retryaws_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
)

var asCommon = awspreset.Classifier{Preset: awspreset.Standard21}

// assertGoV2 checks the preset of the SDK for Go v2 until v1.47, if that is the linked version.
func assertGoV2(t *testing.T, want retry.Class, err error, about ...any) {
	t.Helper()
	if !retryaws.IsSince2026() {
		assert.Equal(t, want, awspreset.Classifier{Preset: awspreset.GoV2Standard20}.Classify(err).Class, about...)
	}
}

func failure(ctx context.Context, t testing.TB, s step) error {
	t.Helper()
	options := newDynamoDB(t, newScript(s), asMiddleware, retry.Policy{}).Options()
	options.Retryer, options.APIOptions = aws.NopRetryer{}, nil
	err := getItem(ctx, dynamodb.New(options))
	require.Error(t, err)
	return err
}

func sdkClass(err error) retry.Class {
	switch {
	case !sdkretry.IsErrorRetryables(sdkretry.DefaultRetryables).IsErrorRetryable(err).Bool():
		return retry.ClassPermanent
	case sdkretry.IsErrorThrottles(sdkretry.DefaultThrottles).IsErrorThrottle(err).Bool():
		return retry.ClassThrottled
	case sdkretry.IsErrorTimeouts(sdkretry.DefaultTimeouts).IsErrorTimeout(err).Bool():
		return retry.ClassTimeout
	}
	return retry.ClassTransient
}

// TestClasses: for every combination of code and status, the preset of this SDK agrees
// with the SDK, and the other classifiers follow their own rules.
func TestClasses(t *testing.T) {
	throttling := sdkretry.DefaultThrottleErrorCodes
	timeouts := sdkretry.DefaultRetryableErrorCodes
	codes := slices.Concat(slices.Collect(maps.Keys(throttling)), slices.Collect(maps.Keys(timeouts)), []string{
		"", "AccessDeniedException", "ConditionalCheckFailedException", "ExpiredTokenException", "InternalError",
		"ReplicatedWriteConflictException", "RequestTimeTooSkewed", "ServiceUnavailable", "ValidationException",
		"slowdown", "Throttling ", "Нет", "NoSuchCodeInAllTheWorld",
	})
	isIn := func(set map[string]struct{}, code string) bool { _, ok := set[code]; return ok }
	for _, status := range []int{400, 403, 404, 408, 409, 413, 425, 429, 499, 500, 501, 502, 503, 504, 505, 509, 599} {
		for _, code := range codes {
			err := failure(t.Context(), t, respond(status, fmt.Sprintf(`{"__type":%q}`, code)))
			common, byDefault := retry.ClassPermanent, retry.ClassPermanent
			switch {
			case status == 429 || isIn(throttling, code):
				common, byDefault = retry.ClassThrottled, retry.ClassThrottled
			case isIn(timeouts, code):
				common, byDefault = retry.ClassTransient, retry.ClassTimeout
			case status == 408:
				byDefault = retry.ClassTimeout
			case status == 409 && code == "ReplicatedWriteConflictException": // the operation of Do may read the item again
				byDefault = retry.ClassTransient
			case slices.Contains([]int{500, 502, 503, 504}, status):
				common, byDefault = retry.ClassTransient, retry.ClassTransient
			case slices.Contains([]int{425, 509}, status):
				byDefault = retry.ClassTransient
			case status == 499 || status == 599: // not in the registry of statuses
				byDefault = retry.ClassUnknown
			}
			if code == "slowdown" || code == "Throttling " { // the default reads a code as words
				byDefault = retry.ClassThrottled
			}
			assertGoV2(t, sdkClass(err), err, "go-v2: %d %s", status, code)
			assert.Equal(t, common, asCommon.Classify(err).Class, "standard-2.1: %d %s", status, code)
			assert.Equal(t, byDefault, retry.DefaultClassifier{}.Classify(err).Class, "default: %d %s", status, code)
		}
	}
}

func TestTransportClasses(t *testing.T) {
	const (
		permanent = retry.ClassPermanent
		transient = retry.ClassTransient
		timeout   = retry.ClassTimeout
	)
	broken := func(op string, err error) step {
		return failWith(&net.OpError{Op: op, Net: "tcp", Err: err})
	}
	tests := []struct {
		name      string
		step      step
		goV2      retry.Class
		common    retry.Class
		byDefault retry.Class
	}{
		{"reset", broken("read", os.NewSyscallError("read", syscall.ECONNRESET)), transient, transient, transient},
		{"refused", broken("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)), transient, transient, transient},
		{"closed by the server", failWith(io.EOF), transient, transient, transient},
		{"network timeout", broken("read", os.ErrDeadlineExceeded), timeout, timeout, timeout},
		{"client timeout", failWith(context.DeadlineExceeded), timeout, timeout, timeout},
		{"no such host", failWith(&net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}), permanent, transient, transient},
		{"DNS temporarily", failWith(&net.DNSError{Err: "server misbehaving", Name: "host", IsTemporary: true}), transient, transient, transient},
		{"DNS timeout", failWith(&net.DNSError{Err: "timed out", Name: "host", IsTimeout: true}), timeout, timeout, timeout},
		{"unknown", failWith(errors.New("strange")), transient, transient, transient},
		{"truncated response", cutShort(`{"Item":{"id":{"S":"1`), permanent, transient, transient},
		{"incomplete response", respond(200, `{"Item":{"id":{"S":"1`), permanent, permanent, retry.ClassUnknown},
		{"response that is not JSON", respond(200, `<html>`), permanent, permanent, retry.ClassUnknown},
		{"error that is not JSON", respond(503, `<html>`), transient, transient, transient},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := failure(t.Context(), t, tt.step)
			assert.Equal(t, tt.goV2, sdkClass(err), "the SDK")
			assertGoV2(t, tt.goV2, err, "go-v2")
			assert.Equal(t, tt.common, asCommon.Classify(err).Class, "standard-2.1")
			assert.Equal(t, tt.byDefault, retry.DefaultClassifier{}.Classify(err).Class, "default")
		})
	}
}

func cutShort(body string) step {
	return func(req *http.Request) (*http.Response, error) {
		resp, err := respond(200, body)(req)
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
		return resp, err
	}
}

func TestCanceledClass(t *testing.T) {
	for _, tt := range []struct {
		name string
		when func(cancel func()) step
	}{
		{"before the attempt", func(cancel func()) step { cancel(); return ok }},
		{"within the attempt", func(cancel func()) step {
			return func(req *http.Request) (*http.Response, error) { cancel(); return silent(req) }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := failure(ctx, t, tt.when(cancel))
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, retry.ClassPermanent, sdkClass(err))
			assertGoV2(t, retry.ClassPermanent, err)
			assert.Equal(t, retry.ClassPermanent, asCommon.Classify(err).Class)
			assert.Equal(t, retry.ClassPermanent, retry.DefaultClassifier{}.Classify(err).Class)
		})
	}
}

// TestHeadClass: a response to HEAD has no body, so only the status counts.
func TestHeadClass(t *testing.T) {
	for status, want := range map[int]retry.Class{
		403: retry.ClassPermanent, 404: retry.ClassPermanent, 429: retry.ClassThrottled, 503: retry.ClassTransient,
	} {
		c := newS3(t, newScript(respond(status, "")), asMiddleware, retry.Policy{MaxAttempts: 1})
		_, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")})
		require.Error(t, err)
		assert.Equal(t, want, asCommon.Classify(err).Class, status)
		assert.Equal(t, want, retry.DefaultClassifier{}.Classify(err).Class, status)
	}
}

var halfBuilt = map[string]*smithyhttp.ResponseError{
	"no response":    {Err: io.ErrUnexpectedEOF},
	"empty response": {Response: &smithyhttp.Response{}, Err: io.ErrUnexpectedEOF},
}

// TestHalfBuiltErrors: errors whose methods panic are classified by other properties.
func TestHalfBuiltErrors(t *testing.T) {
	for name, err := range halfBuilt {
		t.Run(name, func(t *testing.T) {
			require.Panics(t, func() { err.HTTPStatusCode() }, "otherwise this test is pointless")
			wrapped := &smithy.OperationError{Err: err}
			assertGoV2(t, retry.ClassPermanent, wrapped)
			assert.Equal(t, retry.ClassTransient, asCommon.Classify(wrapped).Class)
			assert.Equal(t, retry.ClassTransient, retry.DefaultClassifier{}.Classify(wrapped).Class)
		})
	}
}

func TestHalfBuiltResponses(t *testing.T) {
	always := retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassTransient} })
	steps := map[string]step{
		"neither response nor error": func(*http.Request) (*http.Response, error) { return nil, nil },
		"status 0":                   respond(0, ""),
		"huge status":                respond(math.MaxInt, ""),
		"no headers": func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 503, Body: http.NoBody, Request: req}, nil
		},
	}
	for name, err := range halfBuilt {
		steps[name] = failWith(err)
	}
	inEveryForm(t, func(t *testing.T, f form) {
		for name, s := range steps {
			transport := newScript(s)
			c := newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, Classifier: always})
			assert.Error(t, getItem(t.Context(), c), name)
			assert.Equal(t, 3, transport.count(), name)
		}
	})
}
