package awspreset_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

func TestServiceName(t *testing.T) {
	for service, key := range map[string]string{
		"": "", "dynamodb": "dynamodb", "DynamoDB": "dynamodb", "dynamo-db": "dynamodb", "DynamoDB Streams": "dynamodbstreams",
		"s3": "s3", "Route 53": "route53", "rds-data": "rdsdata", "RDS Data": "rdsdata",
	} {
		p := awspreset.JavaScriptV2.Policy(service)
		assert.NoError(t, p.Validate(), service)
		assert.Equal(t, awspreset.Classifier{Preset: awspreset.JavaScriptV2, Service: key}, p.Classifier)
		p.Classifier = awspreset.Classifier{Preset: awspreset.JavaScriptV2, Service: service}
		assert.NoError(t, p.Validate(), service)
	}
	assert.Equal(t, 4, awspreset.Standard21.Policy("DynamoDB").MaxAttempts)
	conflict := awspreset.Classifier{Preset: awspreset.Standard21, Service: "DynamoDB"}.Classify(codedError{"ReplicatedWriteConflictException"})
	assert.Equal(t, retry.ClassTransient, conflict.Class)
}

// TestEveryService: each preset accepts each name, and a service without rules of its own has
// the general ones.
func TestEveryService(t *testing.T) {
	for preset := range awspreset.All() {
		general := preset.Policy("")
		for _, service := range []string{
			"lambda", "SNS", "Secrets Manager", "secrets-manager", "sfn", "bedrock-runtime", "dynamo", " ", "-", "a=b", "s3(", "Ä",
		} {
			p := preset.Policy(service)
			require.NoError(t, p.Validate(), service)
			assert.Equal(t, general.Classifier, p.Classifier, service)
			assert.Equal(t, general.Backoff, p.Backoff, service)
			assert.Equal(t, general.MaxAttempts, p.MaxAttempts, service)

			byHand := awspreset.Classifier{Preset: preset, Service: service}
			require.NoError(t, byHand.Validate(), service)
			assert.Equal(t, general.Classify(statusedError(503)), byHand.Classify(statusedError(503)), service)
		}
	}
}

// TestPresetClassifierBeyondVectors checks rules that the vectors do not cover.
func TestPresetClassifierBeyondVectors(t *testing.T) {
	js := func(service string) retry.Classifier {
		return awspreset.Classifier{Preset: awspreset.JavaScriptV2, Service: service}
	}
	bad := 400
	tests := []struct {
		classifier retry.Classifier
		code       string
		want       retry.Class
	}{
		{js(""), "XMLParserError", retry.ClassTransient},
		{js("sqs"), "InvalidChecksum", retry.ClassTransient},
		{js(""), "InvalidChecksum", retry.ClassPermanent},
		{js("sts"), "IDPCommunicationErrorException", retry.ClassTransient},
		{js("sts"), "InvalidIdentityToken", retry.ClassTransient},
		{js(""), "InvalidIdentityToken", retry.ClassPermanent},
		{js("dynamodb"), "CRC32CheckFailed", retry.ClassTransient},
		{js("s3"), "CRC32CheckFailed", retry.ClassPermanent},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.classifier.Classify(serviceError(&bad, &tt.code, "")).Class, "%+v %s", tt.classifier, tt.code)
	}
	for preset := range awspreset.All() {
		c := preset.Policy("").Classifier
		for _, err := range []error{errors.New("failure without properties"), context.Canceled, canceled{}} {
			assert.Equal(t, retry.ClassPermanent, c.Classify(err).Class, "%T, %v", c, err)
		}
	}
}

// TestPresetNetworkFailures: an error response of the service takes precedence over a
// network failure.
func TestPresetNetworkFailures(t *testing.T) {
	const (
		permanent = retry.ClassPermanent
		transient = retry.ClassTransient
		timeout   = retry.ClassTimeout
	)
	tests := []struct {
		name               string
		err                error
		js, botocore, java retry.Class
	}{
		{"closed", io.EOF, transient, transient, transient},
		{"closed after a good status", errors.Join(statusedError(200), io.EOF), transient, transient, transient},
		{"closed after a bad status", errors.Join(statusedError(400), io.EOF), permanent, permanent, permanent},
		{"closed after a code", errors.Join(codedError{"NoSuchKey"}, io.EOF), permanent, permanent, permanent},
		{"cut short", io.ErrUnexpectedEOF, transient, transient, transient},
		{"cut short after a good status", errors.Join(statusedError(200), io.ErrUnexpectedEOF), transient, transient, transient},
		{"cut short after a bad status", errors.Join(statusedError(400), codedError{"Throttling"}, io.ErrUnexpectedEOF), retry.ClassThrottled, retry.ClassThrottled, retry.ClassThrottled},
		{"no response in time", os.ErrDeadlineExceeded, timeout, timeout, timeout},
		{"status 429", statusedError(429), retry.ClassThrottled, retry.ClassThrottled, retry.ClassThrottled},
		{"status 500", statusedError(500), transient, transient, transient},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.js, awspreset.Classifier{Preset: awspreset.JavaScriptV2}.Classify(tt.err).Class, "JavaScript, %s", tt.name)
		assert.Equal(t, tt.botocore, awspreset.Classifier{Preset: awspreset.BotocoreLegacy}.Classify(tt.err).Class, "botocore, %s", tt.name)
		assert.Equal(t, tt.java, awspreset.Classifier{Preset: awspreset.JavaV1}.Classify(tt.err).Class, "Java, %s", tt.name)
	}
}

// TestServiceRules checks rules for single services and options that no vector covers.
func TestServiceRules(t *testing.T) {
	aws := func(p awspreset.Preset, service string) awspreset.Classifier {
		return awspreset.Classifier{Preset: p, Service: service}
	}
	skew := func(p awspreset.Preset) awspreset.Classifier {
		return awspreset.Classifier{Preset: p, CorrectsClockSkew: true}
	}
	const permanent, transient = retry.ClassPermanent, retry.ClassTransient
	tests := []struct {
		classifier awspreset.Classifier
		code       string
		want       retry.Class
	}{
		{aws(awspreset.Standard21, "dynamodb"), "ReplicatedWriteConflictException", transient},
		{aws(awspreset.JavaScriptV3Standard20, "dynamodb"), "ReplicatedWriteConflictException", transient},
		{aws(awspreset.Standard21, "dynamodb"), "AccessDenied", permanent},
		{aws(awspreset.Standard21, "sts"), "IDPCommunicationErrorException", transient},
		{aws(awspreset.Standard21, "s3"), "ReplicatedWriteConflictException", permanent},
		{aws(awspreset.JavaV2Legacy, "dynamodb"), "ReplicatedWriteConflictException", transient},
		{aws(awspreset.JavaV2Legacy, "dynamodb"), "AccessDenied", permanent},
		{aws(awspreset.JavaV2Legacy, "s3"), "ReplicatedWriteConflictException", permanent},
		{aws(awspreset.GoV1, "sts"), "IDPCommunicationError", transient},
		{aws(awspreset.GoV1, ""), "IDPCommunicationError", permanent},
		{aws(awspreset.GoV1, "sqs"), "InvalidChecksum", transient},
		{aws(awspreset.GoV1, "kinesis"), "LimitExceededException", retry.ClassThrottled},
		{aws(awspreset.GoV1, "lambda"), "LimitExceededException", permanent},
		{aws(awspreset.GoV1, "dynamodb"), "CRC32CheckFailed", transient},
		{aws(awspreset.GoV1, ""), "ExpiredToken", permanent},
		{awspreset.Classifier{Preset: awspreset.GoV1, RenewsCredentials: true}, "ExpiredToken", transient},
		{aws(awspreset.JavaV2Standard20, "sts"), "IDPCommunicationError", permanent},
		{aws(awspreset.GoV2Standard20, "sts"), "IDPCommunicationError", transient},
		{aws(awspreset.Standard21, "sts"), "AccessDenied", permanent},
		{aws(awspreset.Standard21, "STS"), "IDPCommunicationError", transient},
		{aws(awspreset.GoV2Standard20, "s3"), "IDPCommunicationError", permanent},
		{aws(awspreset.GoV2Standard20, ""), "AccessDeniedException", permanent},
		{skew(awspreset.GoV2Standard20), "AccessDeniedException", transient},
		{skew(awspreset.GoV2Standard20), "RequestInTheFuture", transient},
		{skew(awspreset.GoV2Standard20), "ValidationException", permanent},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.classifier.Classify(codedError{tt.code}).Class, "%+v, %s", tt.classifier, tt.code)
	}
}
