//lint:file-ignore SA1019 this program runs the deprecated SDK, from which programs come

// Command v1 runs cases with the AWS SDK for Go v1.
package main

import (
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/client"
	"github.com/aws/aws-sdk-go/aws/credentials"
	"github.com/aws/aws-sdk-go/aws/request"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/dynamodb"
	"github.com/aws/aws-sdk-go/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go/service/s3"
	"github.com/aws/aws-sdk-go/service/sqs"
	"github.com/aws/aws-sdk-go/service/sts"

	"github.com/gobackoff/retry/test/conformance/drivers/go/driver"
)

const readTimeout = time.Second

//go:linkname sdkRand github.com/aws/aws-sdk-go/internal/sdkrand.SeededRand
var sdkRand *rand.Rand

func main() {
	os.Clearenv() // the user's settings have no effect
	driver.Run("aws-sdk-go "+aws.SDKVersion, open)
}

func open(_ string, c driver.Case) (driver.Client, error) {
	random := &source{numbers: driver.Numbers(c.Random, c.RandomThen)}
	sdkRand = rand.New(random)
	delays := []int64{}
	config := &aws.Config{
		Endpoint:         new(c.Endpoint),
		Region:           new("us-east-1"),
		Credentials:      credentials.NewStaticCredentials("key", "secret", ""),
		HTTPClient:       &http.Client{Transport: &transport{http.Transport{DisableKeepAlives: true}}, Timeout: readTimeout},
		S3ForcePathStyle: new(true),
		SleepDelay:       func(d time.Duration) { delays = append(delays, int64(d)) },
	}
	if c.MaxAttempts > 0 {
		config.MaxRetries = new(c.MaxAttempts - 1)
	}
	if c.Setting == "aws.Config{MaxRetries: aws.Int(3)}" {
		config.MaxRetries = new(3)
	} else if c.Setting != "" {
		return driver.Client{}, fmt.Errorf("the driver does not know the setting %s", c.Setting)
	}
	s, err := session.NewSession(config)
	if err != nil {
		return driver.Client{}, err
	}
	s.Handlers.AfterRetry.PushFront(random.prepare)
	call, err := operation(s, c)
	return driver.Client{
		Call: call,
		Delays: func() []int64 {
			taken := delays
			delays = []int64{}
			return taken
		},
	}, err
}

// A transport makes a connection for each request: net/http silently repeats some requests on
// a reused one.
type transport struct{ http.Transport }

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	request, err := driver.CopyBody(request)
	if err != nil {
		return nil, err
	}
	return t.Transport.RoundTrip(request)
}

// A source makes the first Int63n(bound) of a retry return the next number times the bound,
// rounded down. If the delay exceeds the cap, a second one takes the same number times half of
// the cap.
type source struct {
	numbers func() float64
	u       float64
	bounds  []time.Duration // of the next calls
}

// prepare draws the number of the next retry of r.
func (s *source) prepare(r *request.Request) {
	least := client.DefaultRetryerMinRetryDelay
	if retryer, ok := r.Retryer.(client.DefaultRetryer); ok && retryer.MinRetryDelay > 0 {
		least = retryer.MinRetryDelay
	}
	if r.IsErrorThrottle() {
		least = client.DefaultRetryerMinThrottleDelay
	}
	s.bounds = []time.Duration{least, client.DefaultRetryerMaxRetryDelay / 2}
}

func (s *source) Seed(int64) {}

// Int63 returns a number below the bound. Int63n returns it modulo the bound.
func (s *source) Int63() int64 {
	if len(s.bounds) == 2 {
		s.u = s.numbers()
	}
	bound := s.bounds[0]
	s.bounds = s.bounds[1:]
	return int64(s.u * float64(bound))
}

func operation(s *session.Session, c driver.Case) (func() error, error) {
	switch name := c.Service + " " + c.Operation; name {
	case "sts GetCallerIdentity":
		return caller(sts.New(s).GetCallerIdentity, &sts.GetCallerIdentityInput{}), nil
	case "dynamodb ListTables":
		return caller(dynamodb.New(s).ListTables, &dynamodb.ListTablesInput{}), nil
	case "dynamodbstreams ListStreams":
		return caller(dynamodbstreams.New(s).ListStreams, &dynamodbstreams.ListStreamsInput{}), nil
	case "s3 GetObject":
		return caller(s3.New(s).GetObject, &s3.GetObjectInput{Bucket: new("bucket"), Key: new("key")}), nil
	case "sqs ListQueues":
		return caller(sqs.New(s).ListQueues, &sqs.ListQueuesInput{}), nil
	case "sqs ReceiveMessage":
		return caller(sqs.New(s).ReceiveMessage, &sqs.ReceiveMessageInput{QueueUrl: new(c.Endpoint + "/1/q")}), nil
	default:
		return nil, fmt.Errorf("no such operation: %s", name)
	}
}

func caller[I, O any](method func(*I) (*O, error), in *I) func() error {
	return func() error {
		_, err := method(in)
		return err
	}
}
