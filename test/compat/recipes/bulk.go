package recipes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retryhttp"
)

// A Document is stored under its ID, so storing it twice does no harm.
type Document struct {
	ID     string
	Source json.RawMessage
}

// A documentError is what the response to _bulk says about a document. Its status decides
// whether the document is sent again.
type documentError struct {
	status int
	reason string
}

func (e *documentError) Error() string       { return fmt.Sprintf("status %d: %s", e.status, e.reason) }
func (e *documentError) HTTPStatusCode() int { return e.status }

// Bulk stores documents in an index of Elasticsearch or OpenSearch. client must not retry.
func Bulk(ctx context.Context, client *http.Client, policy retry.Policy, url, index string, documents []Document) ([]retrybatch.Failure[Document], error) {
	batch := retrybatch.Batch[Document]{
		Policy:    policy,
		MaxItems:  1000,
		MaxSize:   5 << 20,
		Size:      func(d Document) int { return len(d.Source) + len(d.ID) + 100 },
		MayRepeat: func(Document) bool { return true },
	}
	return retrybatch.Do(ctx, batch, documents, func(ctx context.Context, batch []Document) (map[int]error, error) {
		var body bytes.Buffer
		encoder := json.NewEncoder(&body)
		for _, d := range batch {
			action := map[string]any{"index": map[string]string{"_index": index, "_id": d.ID}}
			if err := encoder.Encode(action); err != nil {
				return nil, retry.Permanent(err)
			}
			if err := encoder.Encode(d.Source); err != nil { // compact, in one line
				return nil, retry.Permanent(err)
			}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/_bulk", &body)
		if err != nil {
			return nil, retry.Permanent(err)
		}
		req.Header.Set("Content-Type", "application/x-ndjson")
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if err := retryhttp.CheckStatus(resp); err != nil {
			return nil, err
		}
		var out struct {
			Items []map[string]struct {
				Status int
				Error  struct{ Type, Reason string }
			}
		}
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
			return nil, retry.Unrepeatable(err) // cut off: the documents may be stored
		}
		if len(out.Items) != len(batch) {
			return nil, retry.Unrepeatable(fmt.Errorf("the response has %d results for %d documents", len(out.Items), len(batch)))
		}
		failed := map[int]error{}
		for i, item := range out.Items { // in the order of the request
			for _, result := range item {
				if result.Status >= 300 {
					failed[i] = &documentError{result.Status, result.Error.Type + ": " + result.Error.Reason}
				}
			}
		}
		return failed, nil
	})
}
