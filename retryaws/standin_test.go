package retryaws_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
)

// standIn fakes the parts of S3, DynamoDB and SQS that these tests need.
type standIn struct {
	mu     sync.Mutex
	stored map[string][]byte // objects by path, items by table, messages by queue
	counts map[string]int    // updates by table
}

func newStandIn() *standIn { return &standIn{stored: map[string][]byte{}, counts: map[string]int{}} }

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, operation, _ := strings.Cut(target, ".")
		s.serveJSON(w, operation, body)
		return
	}
	s.serveS3(w, r, body)
}

func (s *standIn) serveS3(w http.ResponseWriter, r *http.Request, body []byte) {
	content, known := s.stored[r.URL.Path]
	switch {
	case r.Method == http.MethodPut:
		s.stored[r.URL.Path] = body
	case r.URL.Query().Has("list-type"):
		fmt.Fprint(w, "<ListBucketResult>")
		for name := range s.stored {
			if dir, key := path.Split(name); dir == r.URL.Path+"/" {
				fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
			}
		}
		fmt.Fprint(w, "</ListBucketResult>")
	case !known:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
	default:
		_, _ = w.Write(content)
	}
}

func (s *standIn) serveJSON(w http.ResponseWriter, operation string, body []byte) {
	var in struct {
		TableName, QueueName, QueueUrl, MessageBody string
		Item                                        json.RawMessage
	}
	_ = json.Unmarshal(body, &in) // always valid
	queue := path.Base(in.QueueUrl)
	var out any = struct{}{}
	switch operation {
	case "CreateTable":
		s.stored[in.TableName] = nil
	case "PutItem":
		s.stored[in.TableName] = in.Item
	case "UpdateItem": // adds to the number n
		s.counts[in.TableName]++
		s.stored[in.TableName] = fmt.Appendf(nil, `{"n":{"N":"%d"}}`, s.counts[in.TableName])
	case "CreateQueue":
		s.stored[in.QueueName] = nil
		out = map[string]string{"QueueUrl": "http://127.0.0.1/" + in.QueueName}
	case "SendMessage":
		s.stored[queue] = []byte(in.MessageBody)
		out = map[string]string{"MD5OfMessageBody": md5Of(in.MessageBody)}
	case "GetItem":
		item, known := s.stored[in.TableName]
		if out = map[string]json.RawMessage{"Item": item}; !known {
			w.WriteHeader(http.StatusBadRequest)
			out = map[string]string{"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}
		}
	case "ReceiveMessage":
		message, known := s.stored[queue]
		if out = map[string]any{"Messages": []any{map[string]string{"Body": string(message), "MD5OfBody": md5Of(string(message))}}}; !known {
			w.WriteHeader(http.StatusBadRequest)
			out = map[string]string{"__type": "com.amazonaws.sqs#QueueDoesNotExist"}
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func md5Of(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}
