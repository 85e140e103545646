package retryaws_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
)

var errUnprocessed = retry.Throttled(errors.New("unprocessed"))

// writeItems puts and deletes the items of a table whose key is id.
func writeItems(ctx context.Context, client *dynamodb.Client, policy retry.Policy, table string, requests []types.WriteRequest) ([]retrybatch.Failure[types.WriteRequest], error) {
	batch := retrybatch.Batch[types.WriteRequest]{
		Policy:    policy,
		MaxItems:  25,
		MayRepeat: func(types.WriteRequest) bool { return true }, // overwrites the same item
		Key:       idOf,                                          // a call may write an item only once
	}
	return retrybatch.Do(ctx, batch, requests, func(ctx context.Context, batch []types.WriteRequest) (map[int]error, error) {
		out, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: batch},
		}, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		if err != nil {
			return nil, err
		}
		unprocessed := map[string]bool{}
		for _, request := range out.UnprocessedItems[table] {
			unprocessed[idOf(request)] = true
		}
		failed := map[int]error{}
		for i, request := range batch {
			if unprocessed[idOf(request)] {
				failed[i] = errUnprocessed
			}
		}
		return failed, nil
	})
}

func idOf(request types.WriteRequest) string {
	var id types.AttributeValue
	if request.PutRequest != nil {
		id = request.PutRequest.Item["id"]
	} else {
		id = request.DeleteRequest.Key["id"]
	}
	return id.(*types.AttributeValueMemberS).Value
}

// sendMessages sends messages to a standard queue, which does not recognize repetitions.
func sendMessages(ctx context.Context, client *sqs.Client, policy retry.Policy, queue string, messages []string) ([]retrybatch.Failure[string], error) {
	batch := retrybatch.Batch[string]{
		Policy:   policy,
		MaxItems: 10,
		MaxSize:  1 << 20,
		Size:     func(message string) int { return len(message) },
	}
	return retrybatch.Do(ctx, batch, messages, func(ctx context.Context, batch []string) (map[int]error, error) {
		in := &sqs.SendMessageBatchInput{QueueUrl: &queue}
		for i, message := range batch {
			in.Entries = append(in.Entries, sqstypes.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &message})
		}
		out, err := client.SendMessageBatch(ctx, in, func(o *sqs.Options) { o.Retryer = aws.NopRetryer{} })
		if err != nil {
			return nil, err
		}
		failed := map[int]error{}
		for _, entry := range out.Failed {
			i, err := strconv.Atoi(*entry.Id)
			if err != nil {
				return nil, err
			}
			failed[i] = fmt.Errorf("%s: %s", aws.ToString(entry.Code), aws.ToString(entry.Message))
			if entry.SenderFault {
				failed[i] = retry.Permanent(failed[i])
			}
		}
		return failed, nil
	})
}

// partial is a proxy that passes on a random part of each batch, and sometimes cuts a
// response or refuses a request.
type partial struct {
	url   string // of the server
	mu    sync.Mutex
	rng   *rand.Rand
	cuts  bool
	calls int
	part  func(p *partial, operation string, body map[string]json.RawMessage) (finish func(response map[string]json.RawMessage), whole bool)
}

func (p *partial) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var body map[string]json.RawMessage
	if json.NewDecoder(req.Body).Decode(&body) != nil {
		panic(http.ErrAbortHandler)
	}
	finish, whole := p.part(p, req.Header.Get("X-Amz-Target"), body)
	if !whole {
		p.calls++
		if p.rng.IntN(8) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"#ThrottlingException"}`)
			return
		}
	}
	passed, _ := json.Marshal(body) // it was decoded before
	out, err := http.NewRequestWithContext(req.Context(), req.Method, p.url+req.URL.Path, bytes.NewReader(passed))
	if err != nil {
		panic(err)
	}
	out.Header = req.Header.Clone()
	out.Header.Del("Content-Length")
	resp, err := http.DefaultClient.Do(out)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || p.cuts && !whole && p.rng.IntN(4) == 0 {
		panic(http.ErrAbortHandler)
	}
	if !whole && resp.StatusCode == http.StatusOK {
		response := map[string]json.RawMessage{}
		_ = json.Unmarshal(content, &response)
		finish(response)
		content, _ = json.Marshal(response)
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(content)
}

func must(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// TestBatchWriteItem: a table takes a part of each call, and some responses are lost.
func TestBatchWriteItem(t *testing.T) {
	onMoto(t, func(t *testing.T, url string) {
		p := &partial{url: url, rng: rand.New(rand.NewPCG(6, 3)), cuts: true}
		p.part = func(p *partial, operation string, body map[string]json.RawMessage) (func(map[string]json.RawMessage), bool) {
			if operation != "DynamoDB_20120810.BatchWriteItem" {
				return nil, true
			}
			var tables map[string][]json.RawMessage
			_ = json.Unmarshal(body["RequestItems"], &tables)
			left := map[string][]json.RawMessage{}
			for table, requests := range tables {
				n := min(len(requests), 1+p.rng.IntN(8))
				tables[table], left[table] = requests[:n], requests[n:]
				if len(left[table]) == 0 {
					delete(left, table)
				}
			}
			body["RequestItems"] = must(tables)
			return func(response map[string]json.RawMessage) { response["UnprocessedItems"] = must(left) }, false
		}
		server := httptest.NewServer(p)
		defer server.Close()
		c := dynamodb.New(dynamodb.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &server.URL})
		table := uniqueName()
		createTable(t, c, table)
		var requests []types.WriteRequest
		put := func(id, value string) {
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
				"id": &types.AttributeValueMemberS{Value: id}, "v": &types.AttributeValueMemberS{Value: value},
			}}})
		}
		for i := range 60 {
			put(strconv.Itoa(i), "first")
		}
		put("7", "second")
		requests = append(requests, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "8"}}}})
		failed, err := writeItems(t.Context(), c, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 20}, *table, requests)
		require.NoError(t, err)
		assert.Empty(t, failed)
		assert.Greater(t, p.calls, 8, "requests")
		out, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: table})
		require.NoError(t, err)
		assert.Len(t, out.Items, 59)
		for _, item := range out.Items {
			want := "first"
			if item["id"].(*types.AttributeValueMemberS).Value == "7" {
				want = "second"
			}
			assert.Equal(t, &types.AttributeValueMemberS{Value: want}, item["v"])
		}
	})
}

// TestSendMessageBatch: a queue takes a part of each call. No message is delivered twice, and
// the result says which ones were not accepted. If responses are lost, it says that the
// outcome is unknown.
func TestSendMessageBatch(t *testing.T) {
	for name, cuts := range map[string]bool{"partial": false, "partial, with lost responses": true} {
		t.Run(name, func(t *testing.T) {
			onMoto(t, func(t *testing.T, url string) { trySendMessageBatch(t, url, cuts) })
		})
	}
}

func trySendMessageBatch(t *testing.T, url string, cuts bool) {
	type entry struct{ Id, MessageBody string }
	p := &partial{url: url, rng: rand.New(rand.NewPCG(6, 4)), cuts: cuts}
	p.part = func(p *partial, operation string, body map[string]json.RawMessage) (func(map[string]json.RawMessage), bool) {
		if operation != "AmazonSQS.SendMessageBatch" {
			return nil, true
		}
		var entries, taken []entry
		_ = json.Unmarshal(body["Entries"], &entries)
		var failures []map[string]any
		for _, e := range entries {
			switch {
			case e.MessageBody == "message 13":
				failures = append(failures, map[string]any{"Id": e.Id, "SenderFault": true, "Code": "InvalidMessageContents"})
			case len(taken) > 0 && p.rng.IntN(2) == 0:
				failures = append(failures, map[string]any{"Id": e.Id, "SenderFault": false, "Code": "InternalError"})
			default:
				taken = append(taken, e)
			}
		}
		body["Entries"] = must(taken)
		return func(response map[string]json.RawMessage) { response["Failed"] = must(failures) }, false
	}
	server := httptest.NewServer(p)
	defer server.Close()
	c := sqs.New(sqs.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &server.URL})
	queue, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: uniqueName()})
	require.NoError(t, err)
	var messages []string
	for i := range 40 {
		messages = append(messages, fmt.Sprint("message ", i))
	}
	failed, err := sendMessages(t.Context(), c, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 20}, *queue.QueueUrl, messages)
	assert.Error(t, err)
	fates := map[string]retrybatch.Fate{}
	unknown := 0
	for _, f := range failed {
		fates[f.Item] = f.Fate
		if f.Fate == retrybatch.Unknown {
			unknown++
		}
	}
	assert.Equal(t, cuts, unknown > 0)
	assert.Len(t, failed, 1+unknown)
	received := map[string]int{}
	for {
		out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue.QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 600})
		require.NoError(t, err)
		if len(out.Messages) == 0 {
			break
		}
		for _, m := range out.Messages {
			received[*m.Body]++
		}
	}
	for i, m := range messages {
		switch fates[m] {
		case retrybatch.NotSent: // accepted
			assert.Equal(t, 1, received[m], m)
		case retrybatch.Refused:
			assert.Equal(t, 13, i)
			assert.Zero(t, received[m])
		case retrybatch.Unknown:
			assert.LessOrEqual(t, received[m], 1, m)
		default:
			assert.Fail(t, "a fate that cannot be", "%s: %v", m, fates[m])
		}
	}
}
