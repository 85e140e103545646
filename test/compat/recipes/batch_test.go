package recipes

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
)

var patient = retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 30}

// TestPutRecords: a stream takes a part of each call. The records of each key are stored in
// their order, and each once.
func TestPutRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	stored := map[string][]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		assert.Equal(t, "Kinesis_20131202.PutRecords", req.Header.Get("X-Amz-Target"))
		var in struct {
			Records []struct {
				Data         []byte
				PartitionKey string
			}
		}
		assert.NoError(t, json.NewDecoder(req.Body).Decode(&in))
		if rng.IntN(5) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"ProvisionedThroughputExceededException"}`)
			return
		}
		results := []map[string]string{}
		for _, r := range in.Records {
			if rng.IntN(2) == 0 {
				code := []string{"ProvisionedThroughputExceededException", "InternalFailure"}[rng.IntN(2)]
				results = append(results, map[string]string{"ErrorCode": code, "ErrorMessage": "slow down"})
				continue
			}
			stored[r.PartitionKey] = append(stored[r.PartitionKey], string(r.Data))
			results = append(results, map[string]string{"SequenceNumber": "1", "ShardId": "1"})
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(map[string]any{"Records": results})
	}))
	defer server.Close()
	client := kinesis.New(kinesis.Options{Region: "none", BaseEndpoint: &server.URL, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "key"}, nil
	})})
	var records []types.PutRecordsRequestEntry
	want := map[string][]string{}
	for i := range 60 {
		key, data := fmt.Sprint("key ", i%7), fmt.Sprint(i)
		records = append(records, types.PutRecordsRequestEntry{PartitionKey: &key, Data: []byte(data)})
		want[key] = append(want[key], data)
	}
	failed, err := PutRecords(t.Context(), client, patient, "stream", records)
	require.NoError(t, err)
	assert.Empty(t, failed)
	assert.Equal(t, want, stored)
}

// TestBulk: an index takes a part of each call, refuses a document, and some responses are
// cut. All other documents are stored.
func TestBulk(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	stored := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if rng.IntN(5) == 0 {
			w.WriteHeader([]int{429, 503}[rng.IntN(2)])
			return
		}
		items := []map[string]any{}
		for lines := bufio.NewScanner(req.Body); lines.Scan(); {
			var action struct {
				Index struct {
					ID string `json:"_id"`
				}
			}
			assert.NoError(t, json.Unmarshal(lines.Bytes(), &action))
			assert.True(t, lines.Scan())
			result := map[string]any{"status": 201}
			switch {
			case action.Index.ID == "13":
				result = map[string]any{"status": 400, "error": map[string]string{"type": "mapper_parsing_exception", "reason": "no number"}}
			case rng.IntN(2) == 0:
				result = map[string]any{"status": 429, "error": map[string]string{"type": "es_rejected_execution_exception"}}
			default:
				stored[action.Index.ID] = lines.Text()
			}
			items = append(items, map[string]any{"index": result})
		}
		response, _ := json.Marshal(map[string]any{"errors": true, "items": items})
		if rng.IntN(4) == 0 {
			response = response[:len(response)/2]
		}
		_, _ = w.Write(response)
	}))
	defer server.Close()
	var documents []Document
	for i := range 40 {
		documents = append(documents, Document{fmt.Sprint(i), json.RawMessage("{\n\"n\": " + fmt.Sprint(i) + "}")})
	}
	failed, err := Bulk(t.Context(), &http.Client{}, patient, server.URL, "index", documents)
	assert.ErrorContains(t, err, "mapper_parsing_exception")
	require.Len(t, failed, 1)
	assert.Equal(t, "13", failed[0].Item.ID)
	assert.Contains(t, []retrybatch.Fate{retrybatch.Refused, retrybatch.Unknown}, failed[0].Fate)
	assert.Len(t, stored, 39)
	assert.Equal(t, `{"n":7}`, stored["7"])
}
