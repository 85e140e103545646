package retryaws_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
)

func isConflict(err error) bool {
	var conflict *types.ConditionalCheckFailedException
	return errors.As(err, &conflict)
}

var readAgain = retry.Policy{MaxAttempts: 10, Backoff: retry.FullJitter{Base: 10 * time.Millisecond, Cap: time.Second}, Classifier: retry.OnlyIf(isConflict)}

// change is what a program does with an item: here, it counts.
func change(item map[string]types.AttributeValue) (put map[string]types.AttributeValue, version types.AttributeValue) {
	version = item["version"]
	n, _ := strconv.Atoi(version.(*types.AttributeValueMemberN).Value)
	put = map[string]types.AttributeValue{"id": item["id"], "version": &types.AttributeValueMemberN{Value: strconv.Itoa(n + 1)}}
	return put, version
}

func update(ctx context.Context, client *dynamodb.Client, table *string, key map[string]types.AttributeValue) error {
	return retry.Do(ctx, readAgain, func(ctx context.Context) error {
		got, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key, ConsistentRead: aws.Bool(true)})
		if err != nil {
			return err
		}
		item, version := change(got.Item)
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: table, Item: item, ConditionExpression: aws.String("version = :v"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": version},
		})
		return err
	})
}

// TestOptimisticWrites: a client whose item another client changes meanwhile loses no change.
func TestOptimisticWrites(t *testing.T) {
	onMoto(t, func(t *testing.T, url string) {
		p := newProxy(t, url)
		clientOf := func(url string) *dynamodb.Client {
			return dynamodb.New(dynamodb.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &url, HTTPClient: p.client()}, func(o *dynamodb.Options) {
				o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(awspreset.Standard21.Policy(awspreset.DynamoDB), retryaws.Safely()))
			})
		}
		client, other := clientOf(p.URL), clientOf(url)
		table, key := uniqueName(), map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
		createTable(t, client, table)
		first := map[string]types.AttributeValue{"id": key["id"], "version": &types.AttributeValueMemberN{Value: "0"}}
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: first})
		require.NoError(t, err)

		pass := func(p *proxy, w http.ResponseWriter, r *http.Request) { p.forward.ServeHTTP(w, r) }
		meanwhile := func(p *proxy, w http.ResponseWriter, r *http.Request) {
			assert.NoError(t, update(r.Context(), other, table, key))
			pass(p, w, r)
		}
		p.expect(pass, meanwhile, pass, meanwhile)
		require.NoError(t, update(t.Context(), client, table, key))
		assert.Equal(t, 6, p.count())
		got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: table, Key: key})
		require.NoError(t, err)
		assert.Equal(t, &types.AttributeValueMemberN{Value: "3"}, got.Item["version"])
	})
}

// TestOptimisticRead: after a conflict, the next attempt writes what it has read anew. Another
// failure ends the call.
func TestOptimisticRead(t *testing.T) {
	item := func(version string) step {
		return respond(200, `{"Item":{"id":{"S":"1"},"version":{"N":"`+version+`"}}}`)
	}
	conflict := respond(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}`)
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	transport := newScript(item("1"), conflict, item("2"), ok)
	client := newDynamoDB(t, transport, asMiddleware, retry.Policy{})
	require.NoError(t, update(t.Context(), client, aws.String("t"), key))
	assert.Equal(t, 4, transport.count())

	transport = newScript(item("1"), denied)
	client = newDynamoDB(t, transport, asMiddleware, retry.Policy{})
	assertAPIError(t, update(t.Context(), client, aws.String("t"), key), "AccessDeniedException")
	assert.Equal(t, 2, transport.count())
}
