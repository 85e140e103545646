package retry

import (
	"strconv"
	"strings"
	"unicode"
)

// The classifiers of the AWS SDKs read errors as [DefaultClassifier] does, by
// their methods and standard types, and then decide as the SDK decides. What
// an SDK throws itself is recognised by its equivalent in Go: the errors of
// package net, io.EOF, io.ErrUnexpectedEOF, the errors of TLS, and Timeout()
// and ConnectionError(). An error without a status, a code, or such a kind is
// permanent: the SDKs do not retry it either.

// AWSJavaScriptV2Classifier decides which errors the AWS SDK for JavaScript v2
// retries: any status of 500 and above, 429, its throttling codes, expired
// tokens that it knows by name, all network errors and timeouts.
//
// Source: aws/aws-sdk-js 2.1693.0, lib/service.js, lib/event_listeners.js,
// lib/services/*.js. Redirects are not errors here. What the SDK does between
// two attempts, the operation has to do: see the two fields. It always has an
// opinion, so nothing behind it in [FirstOf] is asked.
type AWSJavaScriptV2Classifier struct {
	// Service adds the rules of one service, by its name in the SDK:
	// dynamodb, rdsdata, route53, s3, sqs, sts. Others have none.
	Service string

	// RenewsCredentials says that the operation fetches new credentials after
	// they expired, as the SDK does; RequestExpired and ExpiredToken are then
	// worth a retry.
	RenewsCredentials bool

	// CorrectsClockSkew says that the operation corrects its clock by that of
	// the server, as the SDK does with its option of that name; errors that
	// come from a wrong clock are then worth a retry.
	CorrectsClockSkew bool
}

// Classify returns the class of err.
func (c AWSJavaScriptV2Classifier) Classify(err error) Class {
	var f facts
	f.read(err)
	switch {
	case f.canceled:
		return ClassPermanent
	case f.status == 429 || isAWSJSThrottling(f.code):
		return ClassThrottled
	case f.code == "TimeoutError":
		return ClassTimeout
	case f.status >= 500, f.code == "NetworkingError", f.code == "ExpiredTokenException", f.code == "XMLParserError",
		strings.Contains(f.code, "Signature") && strings.Contains(f.message, "expired"),
		c.RenewsCredentials && (f.code == "RequestExpired" || f.code == "ExpiredToken"),
		c.CorrectsClockSkew && isAWSClockSkew(f.code),
		c.retriedByService(&f):
		return ClassTransient
	}
	return f.networkClass()
}

func (c AWSJavaScriptV2Classifier) retriedByService(f *facts) bool {
	switch c.Service {
	case "dynamodb":
		return f.code == "CRC32CheckFailed"
	case "rdsdata":
		return f.status == 400 && f.code == "BadRequestException" && strings.HasPrefix(f.message, "Communications link failure")
	case "route53":
		return f.status == 400 && f.code == "PriorRequestNotComplete"
	case "s3":
		return f.code == "RequestTimeout"
	case "sqs":
		return f.code == "InvalidChecksum"
	case "sts":
		return f.code == "IDPCommunicationErrorException" || f.code == "InvalidIdentityToken"
	}
	return false
}

// networkClass is the class of an error that came from the network and not
// from the service, also within an answer that began well; any other is
// permanent.
func (f *facts) networkClass() Class {
	switch {
	case f.canceled || f.kind == kindNone || f.status >= 400 || f.code != "":
		return ClassPermanent
	case f.kind == kindTimeout:
		return ClassTimeout
	}
	return ClassTransient
}

// AWSBotocoreLegacyClassifier decides which errors botocore retries in legacy
// mode: statuses 429, 500, 502, 503, 504 and 509, throttling codes together
// with status 400, lost and refused connections, timeouts, and what its table
// says for a service.
//
// Source: boto/botocore 1.43.11, botocore/data/_retry.json,
// botocore/retryhandler.py. Bodies that end early (io.ErrUnexpectedEOF) are
// not retried; failed checksums are errors with the code ChecksumError.
// Difference: an Organizations client makes botocore drop its rule for 429 in
// every client of the session; here only for that service. It always has an
// opinion, so nothing behind it in [FirstOf] is asked.
type AWSBotocoreLegacyClassifier struct {
	// Service adds the rules of one service, by its endpoint prefix:
	// cloudsearch, dynamodb, ec2, glacier, kinesis, organizations, route53,
	// s3, sqs, sts. Others have none.
	Service string
}

// Classify returns the class of err.
func (c AWSBotocoreLegacyClassifier) Classify(err error) Class {
	var f facts
	f.read(err)
	switch {
	case c.Service == "dynamodb" && f.code == "ChecksumError":
		return ClassTransient
	case f.status < 400 && f.kind == kindTruncated:
		return ClassPermanent
	case f.status < 400:
		return f.networkClass()
	case !c.retried(f.status, f.code):
		return ClassPermanent
	case f.status == 429 || isAWSThrottling(f.code):
		return ClassThrottled
	}
	return ClassTransient
}

func (c AWSBotocoreLegacyClassifier) retried(status int, code string) bool {
	if c.Service == "organizations" && status == 429 {
		return false // its rule for one code replaces that for the status
	}
	for _, r := range botocoreRules {
		if (r.service == "" || r.service == c.Service) && r.status == status && (r.code == "" || r.code == code) {
			return true
		}
	}
	return false
}

// botocoreRules is _retry.json: a status, for all services where none is named,
// and with any code where none is named.
var botocoreRules = []struct {
	service string
	status  int
	code    string
}{
	{"", 429, ""},
	{"", 500, ""},
	{"", 502, ""},
	{"", 503, ""},
	{"", 504, ""},
	{"", 509, ""},
	{"", 400, "Throttling"},
	{"", 400, "ThrottlingException"},
	{"", 400, "ThrottledException"},
	{"", 400, "RequestThrottledException"},
	{"", 400, "ProvisionedThroughputExceededException"},
	{"cloudsearch", 509, "BandwidthLimitExceeded"},
	{"dynamodb", 409, "ReplicatedWriteConflictException"},
	{"dynamodb", 400, "TransactionInProgressException"},
	{"ec2", 503, "RequestLimitExceeded"},
	{"ec2", 503, "EC2ThrottledException"},
	{"glacier", 408, "RequestTimeoutException"},
	{"kinesis", 400, "LimitExceededException"},
	{"organizations", 400, "TooManyRequestsException"},
	{"route53", 400, "Throttling"},
	{"route53", 400, "PriorRequestNotComplete"},
	{"s3", 400, "RequestTimeout"},
	{"s3", 400, "BadDigest"},
	{"sqs", 403, "RequestThrottled"},
	{"sts", 400, "IDPCommunicationError"},
}

// AWSJavaV1Classifier decides which errors the AWS SDK for Java v1 retries, in
// all its modes and for all services: statuses 429, 500, 502, 503 and 504,
// throttling and clock-skew codes, a few others, and every input or output
// error.
//
// Source: aws/aws-sdk-java at e8ea7076 (1.12, 2024),
// com/amazonaws/retry/RetryUtils.java, PredefinedRetryPolicies.java.
// A code that is a status line ("503 Slow Down"), which answers without a body
// get, counts as the code that its words make. It always has an opinion, so
// nothing behind it in [FirstOf] is asked.
type AWSJavaV1Classifier struct{}

// Classify returns the class of err.
func (AWSJavaV1Classifier) Classify(err error) Class {
	var f facts
	f.read(err)
	if words, ok := strings.CutPrefix(f.code, strconv.Itoa(f.status)+" "); ok {
		f.code = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, words)
	}
	switch {
	case f.status == 429 || isAWSJavaThrottling(f.code):
		return ClassThrottled
	case f.status == 500, f.status == 502, f.status == 503, f.status == 504,
		isAWSJavaRetryable(f.code), isAWSClockSkew(f.code):
		return ClassTransient
	}
	return f.networkClass()
}

// isAWSThrottling knows the codes that mean throttling to the AWS SDKs today.
func isAWSThrottling(code string) bool {
	switch code {
	case "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException",
		"TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException",
		"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "RequestThrottled",
		"SlowDown", "PriorRequestNotComplete", "EC2ThrottledException":
		return true
	}
	return false
}

func isAWSJSThrottling(code string) bool {
	switch code {
	case "ProvisionedThroughputExceededException", "Throttling", "ThrottlingException", "RequestLimitExceeded",
		"RequestThrottled", "RequestThrottledException", "TooManyRequestsException",
		"TransactionInProgressException", "EC2ThrottledException":
		return true
	}
	return false
}

func isAWSJavaThrottling(code string) bool {
	switch code {
	case "Throttling", "ThrottlingException", "ThrottledException", "ProvisionedThroughputExceededException",
		"SlowDown", "TooManyRequestsException", "RequestLimitExceeded", "BandwidthLimitExceeded",
		"RequestThrottled", "RequestThrottledException", "EC2ThrottledException", "PriorRequestNotComplete":
		return true
	}
	return false
}

func isAWSJavaRetryable(code string) bool {
	switch code {
	case "TransactionInProgressException", "RequestTimeout", "RequestTimeoutException", "IDPCommunicationError":
		return true
	}
	return false
}

// isAWSClockSkew knows the codes that a client with a wrong clock gets.
func isAWSClockSkew(code string) bool {
	switch code {
	case "RequestTimeTooSkewed", "RequestExpired", "InvalidSignatureException", "SignatureDoesNotMatch",
		"AuthFailure", "RequestInTheFuture":
		return true
	}
	return false
}
