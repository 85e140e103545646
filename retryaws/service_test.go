package retryaws_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// TestServices: despite every fault, written data is read back byte for byte, and each
// call makes exactly one request more than there were faults.
func TestServices(t *testing.T) {
	services := map[string]func(*testing.T, *proxy, form, retry.Policy){
		"s3": tryS3, "dynamodb": tryDynamoDB, "sqs": trySQS,
	}
	onEveryBackend(t, func(t *testing.T, url string) {
		inEveryForm(t, func(t *testing.T, f form) {
			for service, try := range services {
				for name, p := range map[string]retry.Policy{
					"default":                     {},
					fmt.Sprint(javaLike(service)): javaLike(service),
				} {
					t.Run(service+"/"+name, func(t *testing.T) {
						p.Backoff, p.MaxAttempts = retry.NoDelay{}, 8
						try(t, newProxy(t, url), f, p)
					})
				}
			}
		})
	})
}

func javaLike(service string) retry.Policy { return awspreset.JavaV2Standard20.Policy(service) }

func (p *proxy) despite(t *testing.T, plan []fault, call func() error) {
	t.Helper()
	p.expect(plan...)
	require.NoError(t, call())
	assert.Equal(t, len(plan)+1, p.count(), "requests")
	p.expect()
}

// cut returns a fault that truncates the response, or nil if the policy has no
// Classifier: the SDK's rules do not retry after a truncated response, because the
// operation has been executed.
func cut(p retry.Policy) []fault {
	if p.Classifier == nil {
		return nil
	}
	return []fault{truncate}
}

// refused requires that the call fails at once with a response from the server.
func (p *proxy) refused(t *testing.T, call func() error) {
	t.Helper()
	p.expect()
	var api smithy.APIError
	require.ErrorAs(t, call(), &api)
	assert.Equal(t, 1, p.count(), "requests")
}

func content(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never fails
	return b
}

var names atomic.Int64

func uniqueName() *string { return aws.String(fmt.Sprintf("test-%d", names.Add(1))) }

func tryS3(t *testing.T, p *proxy, f form, policy retry.Policy) {
	slowDown := refuse(503, "<Error><Code>SlowDown</Code></Error>")
	c := s3.New(s3.Options{
		Region: "us-east-1", Credentials: credentials, BaseEndpoint: &p.URL, UsePathStyle: true,
		HTTPClient: p.client(), Retryer: f.retryer(t, policy), APIOptions: f.options(policy),
	})
	bucket, key, want := uniqueName(), uniqueName(), content(1<<20)
	ctx := t.Context()
	if _, err := c.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	p.despite(t, []fault{slowDown, reset, lose, hang, slowDown}, func() error {
		_, err := c.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: bytes.NewReader(want)})
		return err
	})
	p.despite(t, []fault{reset, hang, slowDown, lose}, func() error {
		got, err := getObject(ctx, c, bucket, key)
		assert.True(t, bytes.Equal(want, got), "the object has changed")
		return err
	})
	p.despite(t, slices.Concat(cut(policy), []fault{slowDown}, cut(policy)), func() error {
		out, err := c.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket})
		if assert.NoError(t, err) && assert.Len(t, out.Contents, 1) {
			assert.Equal(t, key, out.Contents[0].Key)
		}
		return err
	})
	p.refused(t, func() error { _, err := getObject(ctx, c, bucket, uniqueName()); return err })

	// Errors of a streamed body are not retried, because the caller reads it.
	p.expect(truncate)
	_, err := getObject(ctx, c, bucket, key)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, 1, p.count(), "requests")
}

func getObject(ctx context.Context, c *s3.Client, bucket, key *string) ([]byte, error) {
	out, err := c.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return io.ReadAll(out.Body)
}

func tryDynamoDB(t *testing.T, p *proxy, f form, policy retry.Policy) {
	throttled := refuse(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}`)
	broken := refuse(500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`)
	c := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: credentials, BaseEndpoint: &p.URL,
		HTTPClient: p.client(), Retryer: f.retryer(t, policy), APIOptions: f.options(policy),
	})
	table, id := uniqueName(), &types.AttributeValueMemberS{Value: "1"}
	want := map[string]types.AttributeValue{"id": id, "data": &types.AttributeValueMemberB{Value: content(64 << 10)}}
	ctx := t.Context()
	createTable(t, c, table)
	p.despite(t, slices.Concat([]fault{throttled, reset, lose, broken, hang}, cut(policy), []fault{throttled}), func() error {
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: want})
		return err
	})
	get := func(table *string) (map[string]types.AttributeValue, error) {
		out, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: map[string]types.AttributeValue{"id": id}})
		if err != nil {
			return nil, err
		}
		return out.Item, nil
	}
	p.despite(t, slices.Concat(cut(policy), []fault{hang, throttled}, cut(policy), []fault{lose, reset}), func() error {
		got, err := get(table)
		assert.Equal(t, want, got)
		return err
	})
	p.refused(t, func() error { _, err := get(uniqueName()); return err })
}

// TestExecuted: without a Classifier, a response that cannot be parsed ends the call: the
// operation has been executed, and a retry would add twice.
func TestExecuted(t *testing.T) {
	onEveryBackend(t, func(t *testing.T, url string) {
		inEveryForm(t, func(t *testing.T, f form) {
			for name, broken := range map[string]fault{"not JSON": garble, "truncated": truncate} {
				t.Run(name, func(t *testing.T) {
					p := newProxy(t, url)
					policy := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 4}
					c := dynamodb.New(dynamodb.Options{
						Region: "us-east-1", Credentials: credentials, BaseEndpoint: &p.URL,
						HTTPClient: p.client(), Retryer: f.retryer(t, policy), APIOptions: f.options(policy),
					})
					table, key := uniqueName(), map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
					createTable(t, c, table)

					p.expect(broken, broken, broken, broken)
					_, err := c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
						TableName: table, Key: key, ReturnValues: types.ReturnValueUpdatedNew,
						UpdateExpression:          aws.String("ADD n :one"),
						ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
					})
					var unread *smithy.DeserializationError
					assert.ErrorAs(t, err, &unread)
					assert.Equal(t, 1, p.count(), "requests")

					p.expect()
					out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: table, Key: key})
					require.NoError(t, err)
					assert.Equal(t, &types.AttributeValueMemberN{Value: "1"}, out.Item["n"])
				})
			}
		})
	})
}

func createTable(t *testing.T, c *dynamodb.Client, name *string) {
	t.Helper()
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            name,
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	require.NoError(t, err)
}

func trySQS(t *testing.T, p *proxy, f form, policy retry.Policy) {
	throttled := refuse(403, `{"__type":"com.amazonaws.sqs#RequestThrottled"}`)
	unavailable := refuse(503, ``)
	c := sqs.New(sqs.Options{
		Region: "us-east-1", Credentials: credentials, BaseEndpoint: &p.URL,
		HTTPClient: p.client(), Retryer: f.retryer(t, policy), APIOptions: f.options(policy),
	})
	want := base64.StdEncoding.EncodeToString(content(64 << 10))
	ctx := t.Context()
	// A message whose delivery was lost must be available to the next attempt.
	queue, err := c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: uniqueName(), Attributes: map[string]string{"VisibilityTimeout": "0"}})
	require.NoError(t, err)
	p.despite(t, slices.Concat([]fault{unavailable, throttled, reset, lose, hang}, cut(policy)), func() error {
		_, err := c.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: &want})
		return err
	})
	p.despite(t, slices.Concat(cut(policy), []fault{lose, throttled, unavailable, hang, reset}), func() error {
		out, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue.QueueUrl})
		if assert.NoError(t, err) && assert.NotEmpty(t, out.Messages) {
			assert.Equal(t, want, *out.Messages[0].Body)
		}
		return err
	})
	p.refused(t, func() error {
		_, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: aws.String(*queue.QueueUrl + "-none")})
		return err
	})
}
