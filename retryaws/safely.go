package retryaws

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws/internal/idempotent"
)

// An Option changes what [WithPolicy] does.
type Option func(*loop)

// Safely makes [WithPolicy] repeat a request that may already have taken effect only if
// a repetition does no harm:
//
//   - The operation only reads. Its HTTP method is GET or HEAD, or its name begins with
//     BatchGet, Describe, Get, Head, List, Lookup, Query, Scan, Search, Select or
//     TransactGet. GetActivityTask of Step Functions, which hands out a task, does not count.
//   - The operation has an idempotency token that the SDK fills, such as TransactWriteItems of
//     DynamoDB and RunInstances of EC2.
//   - The model of the service says that the operation is idempotent, and the operation
//     changes or deletes what it names. The model is not trusted if the operation makes or begins
//     something: StartExecution of Step Functions counts as idempotent there, but begins a second
//     execution if it has no name.
//   - It is a PUT or DELETE of S3 that does not depend on a condition such as If-None-Match, for
//     example PutObject, UploadPart or DeleteObject; or it is CreateMultipartUpload or
//     CompleteMultipartUpload. A bucket with versions may keep two versions of the object.
//   - It is DeleteMessage, ReceiveMessage or ChangeMessageVisibility of SQS, AssumeRole and its
//     kind, or an operation of KMS that only uses a key.
//   - The operation is one of those that are named here, by its name in the API, such as
//     "PutItem". Name the operations that are idempotent because of their arguments. A name that
//     no operation has is ignored.
//
// A request may have taken effect if it was sent and its response was lost, came too late,
// could not be read, or has a status of 500 or above without a throttling code. All other
// failures are retried as the policy says: no connection, throttling, and refusals with a
// lower status. If an operation is not repeated for this reason, the reason of the call's
// [retry.Error] is [retry.ErrUnrepeatable], and the text of the error says which name would make
// Safely repeat the operation.
//
// Without Safely, the policy alone decides, as in the SDKs. If a response is lost, an UpdateItem
// that adds to a number is then repeated and adds twice.
func Safely(operations ...string) Option {
	s := &safely{operations: slices.Clone(operations)}
	return func(l *loop) { l.safely = s }
}

type safely struct{ operations []string }

// tokenID is the ID of the SDK's middleware that fills an operation's idempotency token.
const tokenID = "OperationIdempotencyTokenAutoFill"

var readers = []string{
	"BatchGet", "Describe", "Get", "Head", "List", "Lookup", "Query", "Scan", "Search", "Select", "TransactGet",
}

// mayRepeat reports whether the operation may be executed twice.
func (s *safely) mayRepeat(ctx context.Context, req *smithyhttp.Request, hasToken bool) bool {
	name := middleware.GetOperationName(ctx)
	switch {
	case hasToken, slices.Contains(s.operations, name), idempotent.Is(awsmiddleware.GetServiceID(ctx), name, req.Request):
		return true
	case name == "GetActivityTask":
		return false
	case req.Method == http.MethodGet, req.Method == http.MethodHead:
		return true
	}
	return slices.ContainsFunc(readers, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// sending tells whether a request has left.
type sending struct {
	wanted, got atomic.Bool // a connection
}

// watch returns a context for one attempt.
func watch(ctx context.Context) (context.Context, *sending) {
	s := new(sending)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { s.wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { s.got.Store(true) },
	}), s
}

// mayHaveEffect reports whether the operation may have taken effect although it failed with
// err. An HTTP client other than net/http's does not say whether it had a connection, so its
// requests count as sent.
func (s *sending) mayHaveEffect(err error) bool {
	if s.wanted.Load() && !s.got.Load() {
		return false
	}
	response := responseOf(err)
	if response == nil || response.StatusCode < 300 {
		return true
	}
	return response.StatusCode >= 500 && retry.DefaultClassifier{}.Classify(err).Class != retry.ClassThrottled
}
