package retryaws_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
)

// safeClients are clients of one server whose calls Safely watches.
type safeClients struct {
	dynamodb *dynamodb.Client
	sqs      *sqs.Client
	s3       *s3.Client
	sts      *sts.Client
}

func newSafeClients(client aws.HTTPClient, url string, p retry.Policy, operations ...string) safeClients {
	withPolicy := retryaws.WithPolicy(p, retryaws.Safely(operations...))
	return safeClients{
		dynamodb: dynamodb.New(dynamodb.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &url, HTTPClient: client}, func(o *dynamodb.Options) {
			o.APIOptions = append(o.APIOptions, withPolicy)
		}),
		sqs: sqs.New(sqs.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &url, HTTPClient: client}, func(o *sqs.Options) {
			o.APIOptions = append(o.APIOptions, withPolicy)
		}),
		s3: s3.New(s3.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &url, HTTPClient: client, UsePathStyle: true}, func(o *s3.Options) {
			o.APIOptions = append(o.APIOptions, withPolicy)
		}),
		sts: sts.New(sts.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &url, HTTPClient: client}, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions, withPolicy)
		}),
	}
}

func addOne(ctx context.Context, c *dynamodb.Client, table *string, key map[string]types.AttributeValue) error {
	_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: table, Key: key,
		UpdateExpression:          aws.String("ADD n :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	return err
}

// TestSafely: a number is added at most once, whatever is lost, and refusals are retried.
func TestSafely(t *testing.T) {
	throttling := refuse(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}`)
	slowDown := refuse(503, `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException"}`)
	onEveryBackend(t, func(t *testing.T, url string) {
		for name, policy := range map[string]retry.Policy{
			"the zero policy": {},
			"a preset":        awspreset.Standard21.Policy(awspreset.DynamoDB),
			"Go v1":           awspreset.GoV1.Policy(awspreset.DynamoDB), // a 503 counts as throttling
		} {
			for what, tt := range map[string]struct {
				faults   []fault
				requests int
				added    bool
			}{
				"nothing":               {nil, 1, true},
				"throttling":            {[]fault{throttling, slowDown}, 3, true},
				"a lost response":       {[]fault{lose}, 1, true},
				"a lost connection":     {[]fault{reset}, 1, false},
				"no response":           {[]fault{hang}, 1, false},
				"a truncated response":  {[]fault{truncate}, 1, true},
				"an unreadable one":     {[]fault{garble}, 1, true},
				"status 500":            {[]fault{refuse(500, `{}`)}, 1, false},
				"status 503":            {[]fault{refuse(503, `{}`)}, 1, false},
				"throttling, then loss": {[]fault{throttling, lose}, 2, true},
			} {
				t.Run(name+"/"+what, func(t *testing.T) {
					p := newProxy(t, url)
					policy.Backoff, policy.MaxAttempts = retry.NoDelay{}, 5
					c := newSafeClients(p.client(), p.URL, policy).dynamodb
					table, key := uniqueName(), map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
					createTable(t, c, table)

					p.expect(tt.faults...)
					err := addOne(t.Context(), c, table, key)
					assert.Equal(t, tt.requests, p.count(), "requests: %v", err)
					if tt.added && len(tt.faults) < tt.requests {
						require.NoError(t, err)
					} else {
						require.Error(t, err)
					}
					if errors.Is(err, retry.ErrUnrepeatable) {
						assert.ErrorContains(t, err, "the operation may have taken effect; if it may be executed twice, name UpdateItem in Safely to repeat it")
					}
					p.expect()
					out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: table, Key: key})
					require.NoError(t, err)
					if n := out.Item["n"]; tt.added {
						assert.Equal(t, &types.AttributeValueMemberN{Value: "1"}, n)
					} else {
						assert.Nil(t, n)
					}
				})
			}
		}
	})
}

// TestSafelyRepeats: what may be executed twice is repeated after lost responses.
func TestSafelyRepeats(t *testing.T) {
	id := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	bucket, key, queue := aws.String("b"), aws.String("k"), aws.String("http://127.0.0.1/1/q")
	for name, tt := range map[string]struct {
		call    func(context.Context, safeClients) error
		repeats bool
	}{
		"GetItem": {func(ctx context.Context, c safeClients) error {
			_, err := c.dynamodb.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("t"), Key: id})
			return err
		}, true},
		"BatchGetItem": {func(ctx context.Context, c safeClients) error {
			_, err := c.dynamodb.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"t": {Keys: []map[string]types.AttributeValue{id}}}})
			return err
		}, true},
		"ListTables": {func(ctx context.Context, c safeClients) error {
			_, err := c.dynamodb.ListTables(ctx, &dynamodb.ListTablesInput{})
			return err
		}, true},
		"TransactWriteItems, with the SDK's token": {func(ctx context.Context, c safeClients) error {
			_, err := c.dynamodb.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{}})
			return err
		}, true},
		"PutItem, which the caller names": {func(ctx context.Context, c safeClients) error {
			_, err := c.dynamodb.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("t"), Item: id})
			return err
		}, true},
		"UpdateItem": {func(ctx context.Context, c safeClients) error { return addOne(ctx, c.dynamodb, aws.String("t"), id) }, false},
		"BatchWriteItem": {func(ctx context.Context, c safeClients) error {
			_, err := c.dynamodb.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"t": {}}})
			return err
		}, false},
		"SendMessage": {func(ctx context.Context, c safeClients) error {
			_, err := c.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue, MessageBody: aws.String("m")})
			return err
		}, false},
		"ReceiveMessage": {func(ctx context.Context, c safeClients) error {
			_, err := c.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue})
			return err
		}, true},
		"GetQueueAttributes": {func(ctx context.Context, c safeClients) error {
			_, err := c.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: queue})
			return err
		}, true},
		"GetObject": {func(ctx context.Context, c safeClients) error {
			_, err := getObject(ctx, c.s3, aws.String("b"), aws.String("k"))
			return err
		}, true},
		"DeleteObject": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: key})
			return err
		}, true},
		"DeleteObject, if it matches": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: key, IfMatch: aws.String("1")})
			return err
		}, false},
		"PutObject": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("1")})
			return err
		}, true},
		"PutObject, if there is none": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("1"), IfNoneMatch: aws.String("*")})
			return err
		}, false},
		"PutObject that appends": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("1"), WriteOffsetBytes: aws.Int64(1)})
			return err
		}, false},
		"UploadPart": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.UploadPart(ctx, &s3.UploadPartInput{Bucket: bucket, Key: key, UploadId: key, PartNumber: aws.Int32(1), Body: strings.NewReader("1")})
			return err
		}, true},
		"CreateMultipartUpload": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
			return err
		}, true},
		"CompleteMultipartUpload": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: bucket, Key: key, UploadId: key})
			return err
		}, true},
		"CompleteMultipartUpload, if there is none": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: bucket, Key: key, UploadId: key, IfNoneMatch: aws.String("*")})
			return err
		}, false},
		"RestoreObject": {func(ctx context.Context, c safeClients) error {
			_, err := c.s3.RestoreObject(ctx, &s3.RestoreObjectInput{Bucket: bucket, Key: key})
			return err
		}, false},
		"DeleteMessage": {func(ctx context.Context, c safeClients) error {
			_, err := c.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: queue, ReceiptHandle: key})
			return err
		}, true},
		"ChangeMessageVisibilityBatch": {func(ctx context.Context, c safeClients) error {
			_, err := c.sqs.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: queue, Entries: []sqstypes.ChangeMessageVisibilityBatchRequestEntry{}})
			return err
		}, true},
		"CreateQueue": {func(ctx context.Context, c safeClients) error {
			_, err := c.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: key})
			return err
		}, false},
		"AssumeRole": {func(ctx context.Context, c safeClients) error {
			_, err := c.sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: key, RoleSessionName: key})
			return err
		}, true},
		"DeleteTable": {func(ctx context.Context, c safeClients) error {
			_, err := c.dynamodb.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: key})
			return err
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			transport := newScript(failWith(io.EOF))
			clients := newSafeClients(transport, "http://127.0.0.1:1", retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 3}, "PutItem")
			err := tt.call(t.Context(), clients)
			if tt.repeats {
				assert.ErrorIs(t, err, retry.ErrMaxAttempts)
				assert.Equal(t, 3, transport.count())
				return
			}
			assert.ErrorIs(t, err, retry.ErrUnrepeatable)
			assert.ErrorIs(t, err, io.EOF)
			assert.Equal(t, 1, transport.count())
		})
	}
}

// TestSafelyUnsent: a request without a connection has had no effect.
func TestSafelyUnsent(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	c := newSafeClients(nil, "http://"+closed.Addr().String(), retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 3})
	err = addOne(t.Context(), c.dynamodb, aws.String("t"), map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}})
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
}

// TestSafelyUploads: an upload in parts loses one response to each request but the last, and ends
// with the whole object.
func TestSafelyUploads(t *testing.T) {
	onMoto(t, func(t *testing.T, url string) {
		p := newProxy(t, url)
		c := newSafeClients(p.client(), p.URL, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 3}).s3
		bucket, key := uniqueName(), aws.String("k")
		_, err := c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket})
		require.NoError(t, err)

		p.expect(lose)
		upload, err := c.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
		require.NoError(t, err)
		var parts []s3types.CompletedPart
		var want []byte
		for number := range int32(3) {
			body := bytes.Repeat([]byte{'a' + byte(number)}, 5<<20)
			p.expect([]fault{lose, refuse(503, ""), reset}[number])
			in := &s3.UploadPartInput{Bucket: bucket, Key: key, UploadId: upload.UploadId, PartNumber: aws.Int32(number + 1), Body: bytes.NewReader(body)}
			part, err := c.UploadPart(t.Context(), in)
			require.NoError(t, err)
			assert.Equal(t, 2, p.count(), "requests")
			parts, want = append(parts, s3types.CompletedPart{ETag: part.ETag, PartNumber: in.PartNumber}), append(want, body...)
		}
		p.expect(refuse(500, ""))
		_, err = c.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
			Bucket: bucket, Key: key, UploadId: upload.UploadId, MultipartUpload: &s3types.CompletedMultipartUpload{Parts: parts},
		})
		require.NoError(t, err)
		out, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
		require.NoError(t, err)
		got, err := io.ReadAll(out.Body)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), "%d bytes", len(got))
	})
}
