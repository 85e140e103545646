package troubleshooting

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
	"github.com/gobackoff/retry/retrygrpc"
)

// A healthServer answers its first calls with an error each.
type healthServer struct {
	grpc_health_v1.UnimplementedHealthServer
	failures []error
	calls    atomic.Int32
	large    bool          // its answers are longer than a client accepts
	begun    chan struct{} // closed when a call begins, which then hangs; nil: none hangs
}

// An expiring context has a deadline that is over when done is closed.
type expiring struct {
	context.Context
	done chan struct{}
}

func (e expiring) Deadline() (time.Time, bool) { return time.Now().Add(time.Minute), true }
func (e expiring) Done() <-chan struct{}       { return e.done }

func (e expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func (s *healthServer) Check(ctx context.Context, _ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if s.begun != nil {
		close(s.begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	n := int(s.calls.Add(1))
	if n <= len(s.failures) {
		return nil, s.failures[n-1]
	}
	answer := &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}
	if s.large {
		field := append([]byte{0x7a, 0x80, 0x80, 0xc0, 0x02}, make([]byte, 5<<20)...) // an unknown field of 5 MiB
		answer.ProtoReflect().SetUnknown(field)
	}
	return answer, nil
}

// check calls a server with these options.
func check(t *testing.T, s *healthServer, options ...grpc.DialOption) error {
	t.Helper()
	return checkOf(t.Context(), t, s, options...)
}

func checkOf(ctx context.Context, t *testing.T, s *healthServer, options ...grpc.DialOption) error {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, s)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	return checkAt(ctx, t, listener.Addr().String(), options...)
}

func checkAt(ctx context.Context, t *testing.T, address string, options ...grpc.DialOption) error {
	t.Helper()
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient(address, options...)
	require.NoError(t, err)
	defer conn.Close()
	_, err = grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	return err
}

// An awsServer answers requests of an AWS client.
type awsServer func(r *http.Request) (*http.Response, error)

func (f awsServer) Do(r *http.Request) (*http.Response, error) { return f(r) }

func answerAWS(r *http.Request, code int, body string) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// failsFor fails n requests, and answers the others.
func failsFor(n int) awsServer {
	return func(r *http.Request) (*http.Response, error) {
		n--
		if n >= 0 {
			return answerAWS(r, http.StatusInternalServerError, `{"__type":"InternalServerError"}`)
		}
		return answerAWS(r, http.StatusOK, "{}")
	}
}

func withoutWaits(o *dynamodb.Options) {
	o.Retryer = awsretry.NewStandard(func(o *awsretry.StandardOptions) {
		o.Backoff = awsretry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

func dynamo(server awsServer, options ...func(*dynamodb.Options)) *dynamodb.Client {
	cfg := aws.Config{
		Region: "us-east-1", HTTPClient: server,
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}
	return dynamodb.NewFromConfig(cfg, append(options, func(o *dynamodb.Options) { o.DisableValidateResponseChecksum = true })...)
}

func update(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("orders"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}},
	})
	return err
}

// remote are programs that call gRPC and AWS.
var remote = map[string]program{
	"`the server may have executed …: see Client.Repeatable`": func(t *testing.T, mended bool) error {
		client := retrygrpc.Client{Policy: quick}
		if mended {
			client.Repeatable = []string{"grpc.health.v1.Health/Check"}
		}
		return check(t, &healthServer{failures: []error{status.Error(codes.Unavailable, "busy")}}, client.DialOptions()...)
	},
	"`code = Unavailable` … `connect: connection refused`": func(t *testing.T, mended bool) error {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		address := listener.Addr().String()
		require.NoError(t, listener.Close())
		policy := retry.Policy{Backoff: retry.NoDelay{}}
		if mended {
			policy = retry.Policy{Backoff: retry.Constant(5 * time.Millisecond)}
			policy.MaxElapsed = 5 * time.Second
			server := grpc.NewServer()
			grpc_health_v1.RegisterHealthServer(server, &healthServer{})
			policy.OnRetry = func(context.Context, retry.Attempt, time.Duration) {
				if again, err := net.Listen("tcp", address); err == nil {
					go func() { _ = server.Serve(again) }()
				}
			}
			defer server.Stop()
		}
		return checkAt(t.Context(), t, address, retrygrpc.DialOptions(policy)...)
	},
	"`code = DeadlineExceeded`": func(t *testing.T, mended bool) error {
		if mended {
			ctx := t.Context()
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return checkOf(ctx, t, &healthServer{}, retrygrpc.DialOptions(quick)...)
		}
		ctx := expiring{t.Context(), make(chan struct{})}
		return checkOf(ctx, t, &healthServer{begun: ctx.done}, retrygrpc.DialOptions(quick)...)
	},
	"`received message larger than max`": func(t *testing.T, mended bool) error {
		options := retrygrpc.DialOptions(quick)
		if mended {
			options = append(options, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)))
		}
		return check(t, &healthServer{large: true}, options...)
	},
	"`failed to get rate limit token, retry quota exceeded`": func(t *testing.T, mended bool) error {
		client := dynamo(failsFor(1<<20), withoutWaits)
		if mended {
			policy := awspreset.Standard21.Policy("dynamodb")
			policy.Budget = &awspreset.TokenBudget{Capacity: 5000, SuccessOnly: true}
			policy.Backoff = retry.NoDelay{}
			client = dynamo(failsFor(1<<20), func(o *dynamodb.Options) {
				o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy))
			})
		}
		for range 60 {
			err := update(t.Context(), client)
			if err == nil || errors.Is(err, retry.ErrBudget) || strings.Contains(err.Error(), "quota exceeded") {
				return err
			}
		}
		return nil
	},
	"`exceeded maximum number of attempts`": func(t *testing.T, mended bool) error {
		client := dynamo(failsFor(5), withoutWaits)
		if mended {
			policy := awspreset.Standard21.Policy("dynamodb")
			policy.MaxAttempts = 10
			policy.Backoff = retry.NoDelay{}
			client = dynamo(failsFor(5), func(o *dynamodb.Options) {
				o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy))
			})
		}
		return retry.Do(t.Context(), quick, func(ctx context.Context) error { return update(ctx, client) })
	},
	"`may have taken effect; if it may be executed twice, name UpdateItem in Safely`": func(t *testing.T, mended bool) error {
		policy := quick
		safely := retryaws.Safely()
		if mended {
			safely = retryaws.Safely("UpdateItem")
		}
		client := dynamo(failsFor(1), func(o *dynamodb.Options) {
			o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy, safely))
		})
		return update(t.Context(), client)
	},
	"`the body of the request cannot be rewound: pass an io.ReadSeeker`": func(t *testing.T, mended bool) error {
		client := s3.New(s3.Options{
			Region: "us-east-1", HTTPClient: failsFor(1), APIOptions: []func(*middleware.Stack) error{retryaws.WithPolicy(quick)},
			Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		})
		stream := io.MultiReader(strings.NewReader("content"))
		input := &s3.PutObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key"), Body: stream, ContentLength: aws.Int64(7)}
		if mended {
			content, err := io.ReadAll(stream)
			require.NoError(t, err)
			input.Body = bytes.NewReader(content)
		}
		_, err := client.PutObject(t.Context(), input, s3.WithAPIOptions(v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware))
		return err
	},
}
