package compat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"

	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	smithy "github.com/aws/smithy-go"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/assert"
	"github.com/twmb/franz-go/pkg/kerr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gobackoff/retry"
)

// accepted returns errors that the libraries' own retry code accepts.
func accepted() map[string]error {
	errs := map[string]error{}
	add := func(library, name string, err error, ok bool) {
		if ok {
			errs[library+" "+name] = err
		}
	}
	standard := awsretry.NewStandard()
	for _, codes := range []map[string]struct{}{awsretry.DefaultRetryableErrorCodes, awsretry.DefaultThrottleErrorCodes} {
		for code := range codes {
			err := &smithy.GenericAPIError{Code: code, Message: "no"}
			add("aws-sdk-go-v2", code, err, standard.IsErrorRetryable(err))
		}
	}
	for code := range int16(200) {
		err := kerr.ErrorForCode(code)
		add("franz-go", strconv.Itoa(int(code)), err, kerr.IsRetriable(err))
		number := kafka.Error(code)
		add("kafka-go", strconv.Itoa(int(code)), number, number.Temporary() || number.Timeout())
	}
	pods, failed := schema.GroupResource{Resource: "pods"}, errors.New("no")
	for name, err := range map[string]error{
		"Conflict": apierrors.NewConflict(pods, "pod", failed), "TooManyRequests": apierrors.NewTooManyRequests("later", 1),
		"InternalError": apierrors.NewInternalError(failed), "ServerTimeout": apierrors.NewServerTimeout(pods, "list", 1),
		"Timeout": apierrors.NewTimeoutError("no", 1), "ServiceUnavailable": apierrors.NewServiceUnavailable("no"),
		"AlreadyExists": apierrors.NewAlreadyExists(pods, "pod"), "NotFound": apierrors.NewNotFound(pods, "pod"),
	} {
		_, delay := apierrors.SuggestsClientDelay(err)
		add("Kubernetes", name, err, delay || apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) ||
			apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsServiceUnavailable(err))
	}
	for status := 400; status < 600; status++ {
		retried, _ := retryablehttp.DefaultRetryPolicy(context.Background(), &http.Response{StatusCode: status}, nil)
		add("go-retryablehttp", strconv.Itoa(status), apiError{StatusCode: uint16(status)}, retried)
	}
	return errs
}

// TestPredicates: what a library's own retry code accepts is not permanent, except some
// statuses that mean that a retry fails again.
func TestPredicates(t *testing.T) {
	exceptions := []string{
		"go-retryablehttp 505", "go-retryablehttp 506", "go-retryablehttp 508", "go-retryablehttp 510", "go-retryablehttp 511",
		"go-retryablehttp 525", "go-retryablehttp 526", // the certificate of the origin
		"kafka-go 85", "kafka-go 86", // not retriable in Kafka's protocol guide
	}
	var permanents []string
	errs := accepted()
	for name, err := range errs {
		for _, c := range []retry.Classifier{retry.DefaultClassifier{}} {
			v := c.Classify(fmt.Errorf("outer: %w", err))
			assert.False(t, v.Unrepeatable, name)
			if v.Class == permanent && !slices.Contains(permanents, name) {
				permanents = append(permanents, name)
			}
		}
	}
	slices.Sort(permanents)
	assert.Equal(t, exceptions, permanents)
	assert.Greater(t, len(errs), 170)
	t.Log(len(errs), "errors")
}
