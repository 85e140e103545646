package retryaws_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws"
)

// A form is a way to give a policy to a client.
type form struct {
	name    string
	retryer func(testing.TB, retry.Policy) aws.Retryer
	options func(retry.Policy) []func(*middleware.Stack) error
}

var (
	asRetryer = form{
		name: "Retryer",
		retryer: func(t testing.TB, p retry.Policy) aws.Retryer {
			r, err := retryaws.New(p)
			require.NoError(t, err)
			return r
		},
		options: func(retry.Policy) []func(*middleware.Stack) error { return nil },
	}
	asMiddleware = form{
		name:    "WithPolicy",
		retryer: func(testing.TB, retry.Policy) aws.Retryer { return nil },
		options: func(p retry.Policy) []func(*middleware.Stack) error {
			return []func(*middleware.Stack) error{retryaws.WithPolicy(p)}
		},
	}
)

const modeVariable = "AWS_NEW_RETRIES_2026"

// A mode is a behavior of the SDK's loop: before v1.48.0, a variable selects one of two.
type mode struct {
	name, value string
	cost        float64 // of a retry, in tokens of the SDK's quota
	extends     bool    // the loop adds up to 5 s to a wait if x-amz-retry-after asks for it
}

var modes = func() []mode {
	since2026 := mode{"2026", "true", 14, true}
	if retryaws.IsSince2026() {
		return []mode{since2026}
	}
	return []mode{{"legacy", "", 5, false}, since2026}
}()

func inEveryForm(t *testing.T, test func(*testing.T, form)) {
	inEveryFormAndMode(t, func(t *testing.T, f form, _ mode) { test(t, f) })
}

func inEveryFormAndMode(t *testing.T, test func(*testing.T, form, mode)) {
	for _, mode := range modes {
		for _, f := range []form{asRetryer, asMiddleware} {
			t.Run(mode.name+"/"+f.name, func(t *testing.T) {
				t.Setenv(modeVariable, mode.value)
				test(t, f, mode)
			})
		}
	}
}

var credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
})

func newDynamoDB(t testing.TB, transport aws.HTTPClient, f form, p retry.Policy) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		Credentials:  credentials,
		BaseEndpoint: aws.String("http://127.0.0.1:1"),
		HTTPClient:   transport,
		Retryer:      f.retryer(t, p),
		APIOptions:   f.options(p),
	})
}

func getItem(ctx context.Context, c *dynamodb.Client) error {
	_, err := c.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String("table"),
		Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}},
	})
	return err
}

type step func(*http.Request) (*http.Response, error)

// script is a transport that runs its steps in order; the last repeats.
type script struct {
	mu       sync.Mutex
	steps    []step
	requests []*http.Request
	times    []time.Time
}

func newScript(steps ...step) *script { return &script{steps: steps} }

func (s *script) Do(req *http.Request) (*http.Response, error) {
	return s.next(req)(req)
}

func (s *script) next(req *http.Request) step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	s.times = append(s.times, time.Now())
	return s.steps[min(len(s.requests), len(s.steps))-1]
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func respond(status int, body string, headers ...string) step {
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status,
			Header:     maps.Clone(header),
			Body:       io.NopCloser(bytes.NewReader([]byte(body))),
			Request:    req,
		}, nil
	}
}

func failWith(err error) step {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

var (
	ok          = respond(200, `{}`)
	unavailable = respond(503, `{"__type":"ServiceUnavailable"}`)
	throttled   = respond(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`)
	denied      = respond(400, `{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException","message":"no"}`)
)

func (s *script) rewrite(steps ...step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps, s.requests, s.times = steps, nil, nil
}
