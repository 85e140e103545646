package main

// This file creates the SDK's clients and calls their operations.

import (
	"cmp"
	"context"
	"fmt"
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
)

const readTimeout = time.Second

type client struct {
	call     func(context.Context) error
	quota    *ratelimit.TokenRateLimit
	recorder *recorder
}

// newClient sets only an aws.Config, so the service's package chooses all other retry
// settings.
func newClient(in input, c testCase) (client, error) {
	recorder := newRecorder(awshttp.NewBuildableClient().WithReadTimeout(readTimeout))
	config := aws.Config{
		BaseEndpoint:     aws.String(cmp.Or(c.Endpoint, in.Endpoint)),
		Region:           "us-east-1",
		Credentials:      aws.CredentialsProviderFunc(credentials),
		HTTPClient:       recorder,
		RetryMode:        aws.RetryModeStandard,
		RetryMaxAttempts: c.MaxAttempts,
	}
	if strings.Contains(in.Preset, "adaptive") {
		config.RetryMode = aws.RetryModeAdaptive
	}
	call, retryer, err := operation(config, c.Service+" "+c.Operation)
	if err != nil {
		return client{}, err
	}
	scriptRandom(retryer, c.Random, c.RandomThen)
	quota := quotaOf(retryer)
	if c.Quota != nil {
		if _, err := quota.GetToken(context.Background(), retry.DefaultRetryRateTokens-*c.Quota); err != nil {
			return client{}, err
		}
	}
	return client{call: call, quota: quota, recorder: recorder}, nil
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
