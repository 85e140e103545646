// Command v2 runs cases with the AWS SDK for Go v2.
package main

// This file creates the SDK's clients and calls their operations.

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/gobackoff/retry/test/conformance/drivers/go/driver"
)

const readTimeout = time.Second

func main() {
	driver.Run("aws-sdk-go-v2 "+aws.SDKVersion, open)
}

// open sets only an aws.Config, so the service's package chooses all other retry
// settings.
func open(mode string, c driver.Case) (driver.Client, error) {
	setFlag(strings.HasSuffix(mode, "-2.1"))
	recorder := newRecorder(awshttp.NewBuildableClient().WithReadTimeout(readTimeout))
	config := aws.Config{
		BaseEndpoint:     aws.String(c.Endpoint),
		Region:           "us-east-1",
		Credentials:      aws.CredentialsProviderFunc(credentials),
		HTTPClient:       recorder,
		RetryMode:        aws.RetryModeStandard,
		RetryMaxAttempts: c.MaxAttempts,
	}
	if strings.Contains(mode, "adaptive") {
		config.RetryMode = aws.RetryModeAdaptive
	}
	if err := set(&config, c.Setting); err != nil {
		return driver.Client{}, err
	}
	call, retryer, err := operation(config, c.Service+" "+c.Operation)
	if err != nil {
		return driver.Client{}, err
	}
	scriptRandom(retryer, driver.Numbers(c.Random, c.RandomThen))
	quota := quotaOf(retryer)
	if quota == nil {
		return driver.Client{Call: func() error { return call(context.Background()) }, Delays: recorder.take}, nil
	}
	if c.Quota != nil {
		if _, err := quota.GetToken(context.Background(), retry.DefaultRetryRateTokens-*c.Quota); err != nil {
			return driver.Client{}, err
		}
	}
	return driver.Client{
		Call:   func() error { return call(context.Background()) },
		Delays: recorder.take,
		Quota:  quota.Remaining,
	}, nil
}

// set applies a setting of docs/reference/aws.md.
func set(c *aws.Config, setting string) error {
	retryer := func(r aws.Retryer) { c.Retryer = func() aws.Retryer { return r } }
	limited := func(l retry.RateLimiter) {
		retryer(retry.NewStandard(func(o *retry.StandardOptions) { o.RateLimiter = l }))
	}
	switch setting {
	case "":
	case "config.WithRetryMaxAttempts(4)":
		c.RetryMaxAttempts = 4
	case "retry.AddWithMaxBackoffDelay(r, 5*time.Second)":
		retryer(retry.AddWithMaxBackoffDelay(retry.NewStandard(), 5*time.Second))
	case `retry.AddWithErrorCodes(r, "Odd")`:
		retryer(retry.AddWithErrorCodes(retry.NewStandard(), "Odd"))
	case "o.RateLimiter = ratelimit.None":
		limited(ratelimit.None)
	case "o.RateLimiter = ratelimit.NewTokenRateLimit(50)":
		limited(ratelimit.NewTokenRateLimit(50))
	default:
		return fmt.Errorf("the driver does not know the setting %s", setting)
	}
	return nil
}

// setFlag switches retry behavior 2.1 on or off where a variable still decides: in the
// SDK's core until v1.47.8, and in service modules from before 10 November 2026, even
// with a newer core.
func setFlag(on bool) {
	os.Unsetenv("AWS_NEW_RETRIES_2026")
	if on {
		os.Setenv("AWS_NEW_RETRIES_2026", "true")
	}
}

func credentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
}

func operation(config aws.Config, name string) (func(context.Context) error, aws.Retryer, error) {
	switch name {
	case "sts GetCallerIdentity":
		c := sts.NewFromConfig(config)
		return caller(c.GetCallerIdentity, &sts.GetCallerIdentityInput{}), c.Options().Retryer, nil
	case "dynamodb ListTables":
		c := dynamodb.NewFromConfig(config)
		return caller(c.ListTables, &dynamodb.ListTablesInput{}), c.Options().Retryer, nil
	case "dynamodbstreams ListStreams":
		c := dynamodbstreams.NewFromConfig(config)
		return caller(c.ListStreams, &dynamodbstreams.ListStreamsInput{}), c.Options().Retryer, nil
	case "s3 GetObject":
		c := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
		object := &s3.GetObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")}
		return caller(c.GetObject, object), c.Options().Retryer, nil
	case "sqs ListQueues":
		c := sqs.NewFromConfig(config)
		return caller(c.ListQueues, &sqs.ListQueuesInput{}), c.Options().Retryer, nil
	case "sqs ReceiveMessage":
		c := sqs.NewFromConfig(config)
		queue := &sqs.ReceiveMessageInput{QueueUrl: aws.String(*config.BaseEndpoint + "/1/q")}
		return caller(c.ReceiveMessage, queue), c.Options().Retryer, nil
	}
	return nil, nil, fmt.Errorf("no such operation: %s", name)
}

func caller[I, O, F any](method func(context.Context, *I, ...F) (*O, error), in *I) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := method(ctx, in)
		return err
	}
}
