package retryaws

import (
	"io"
	"net/http"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

const general = "Retry-After"

func TestWithHint(t *testing.T) {
	var none *smithyhttp.ResponseError
	withHeaders := func(h http.Header) error {
		return &smithy.OperationError{Err: &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{Header: h}},
			Err:      io.ErrUnexpectedEOF,
		}}}
	}
	for name, err := range map[string]error{
		"nil":                 nil,
		"another error":       io.EOF,
		"nil error":           none,
		"nil error, in AWS's": &awshttp.ResponseError{},
		"no response":         &smithyhttp.ResponseError{Err: io.EOF},
		"empty response":      &smithyhttp.ResponseError{Response: &smithyhttp.Response{}, Err: io.EOF},
		"no headers":          withHeaders(nil),
		"no hint":             withHeaders(http.Header{general: {"-1"}}),
	} {
		assert.True(t, hintsOf(retry.Policy{}).add(err) == err, name) // assert.Equal might print err, which may panic
	}

	err := withHeaders(http.Header{general: {"3"}})
	hinted := hintsOf(retry.Policy{}).add(err)
	assert.ErrorIs(t, hinted, io.ErrUnexpectedEOF)
	assert.EqualError(t, hinted, err.Error())
	assert.Equal(t, 3*time.Second, retry.Policy{}.Classify(hinted).Hint)
}
