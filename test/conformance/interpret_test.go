package main

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// TestHintOf covers headers that no recording contains.
func TestHintOf(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		preset, header, value string
		want                  time.Duration
	}{
		{"aws-standard-2026", "X-Amz-Retry-After", "1_500", 0},
		{"aws-botocore-standard-2026", "X-Amz-Retry-After", "1_500", 1500 * ms},
		{"aws-standard-2026", "X-Amz-Retry-After", "+20", 20 * ms},
		{"aws-standard-2026", "X-Amz-Retry-After", "-20", 0},
		{"aws-standard-2026", "X-Amz-Retry-After", "99999999999999999999", 0},
		{"aws-botocore-standard-2026", "X-Amz-Retry-After", "99999999999999999999", math.MaxInt64},
		{"aws-standard-2026", "Retry-After", "3", 0},
		{"aws-botocore-standard", "X-Amz-Retry-After", "1500", 0},
		{"aws-go-v2-standard-2026", "X-Amz-Retry-After", "1500", 1500 * ms},
		{"aws-go-v2-standard-2026", "X-Amz-Retry-After", "1_500", 0},
		{"aws-go-v2-standard-2026", "X-Amz-Retry-After", "99999999999999999999", 0},
		{"aws-java-v2-standard-2026", "X-Amz-Retry-After", "2147483648", 0},
		{"aws-java-v2-legacy", "Retry-After", "3", 3000 * ms},
		{"aws-java-v2-legacy", "X-Amz-Retry-After", "3000", 0},
		{"aws-js-v2", "Retry-After", "3", 0},
		{"aws-js-v3-standard", "X-Amz-Retry-After", "12.5", 12 * ms},
		{"aws-js-v3-standard", "X-Amz-Retry-After", "1e3", 1000 * ms},
		{"aws-js-v3-standard", "X-Amz-Retry-After", "0x10", 16 * ms},
		{"aws-js-v3-standard", "X-Amz-Retry-After", "1_000", 0},
		{"aws-js-v3-standard", "Retry-After", "1.5", 1500 * ms},
		{"aws-js-v3-standard", "Retry-After", "+2", 0},
		{"aws-js-v3-standard-late-cap", "Retry-After", "3", 0}, // in 1970
		{"aws-js-v3-standard-late-cap", "Retry-After", "99999999999", math.MaxInt64},
	} {
		header := http.Header{tt.header: {tt.value}}
		assert.Equal(t, tt.want, max(0, hintOf(tt.preset, "sqs")(header)), "%s %s: %s", tt.preset, tt.header, tt.value)
	}
}

func TestDuration(t *testing.T) {
	assert.Equal(t, time.Duration(math.MaxInt64), duration(math.Inf(1), time.Second))
	assert.Zero(t, duration(math.NaN(), time.Second))
	assert.Zero(t, duration(-1, time.Second))
	assert.Equal(t, 1500*time.Millisecond, duration(1.5, time.Second))
}

func TestCodeOf(t *testing.T) {
	assert.Equal(t, "408 Request Timeout", codeOf("aws-java-v1-legacy", awsQuery, 408))
	assert.Empty(t, codeOf("aws-java-v1-legacy", awsJSON, 408))
	assert.Empty(t, codeOf("aws-java-v2-legacy", awsQuery, 408))
}

func TestUnsentOf(t *testing.T) {
	failed := &url.Error{Op: "Post", URL: "/", Err: io.EOF}
	class := func(err error) retry.Class { return awspreset.GoV2Standard.Policy("").Classifier.Classify(err).Class }
	assert.Equal(t, retry.ClassPermanent, class(failed))
	assert.Equal(t, retry.ClassTransient, class(sendErrorOf("aws-go-v2-standard", failed)))
	assert.ErrorIs(t, sendErrorOf("aws-go-v2-standard", failed), io.EOF)
	for _, err := range []error{failed, io.ErrUnexpectedEOF, errors.New("other")} {
		assert.Equal(t, err, sendErrorOf("aws-js-v2", err))
	}
	assert.Equal(t, io.ErrUnexpectedEOF, sendErrorOf("aws-go-v2-standard", io.ErrUnexpectedEOF))
}
