package awspreset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// A Classifier decides, as an AWS SDK does, which errors are retried. The policy of
// each [Preset] contains one.
//
// It applies the SDK's rules to the error methods and the standard error types that
// [retry.DefaultClassifier] reads. The SDKs' own exceptions correspond to errors of
// package net, io.EOF, io.ErrUnexpectedEOF, TLS errors, and errors with a method
// Timeout() or ConnectionError(). A failed checksum has the code ChecksumError, or
// CRC32CheckFailed in Go v1 and JavaScript v2. An error that has no status, no code and
// none of these types or methods is permanent, except that [BotocoreStandard20], [GoV1] and
// [JavaScriptV2] retry every *url.Error. The Classifier never returns
// [retry.ClassUnknown], so classifiers after it in [retry.FirstOf] are not consulted.
//
// The methods Retryable() and RetryableError() stand for the retryable trait in an
// SDK's model. If they return true, the error is retryable whatever its status, except
// in botocore's legacy mode and Java v1. If they return false, Go v2 and JavaScript v2
// do not retry the error; the other SDKs ignore the result.
//
// All SDKs retry the statuses 500, 502, 503 and 504 and most throttling codes. They
// differ in other statuses, in codes that only one service uses, and in network errors;
// docs/reference/aws.md has tables. For example, [Standard21] does not retry failed TLS handshakes.
// [GoV2Standard20] retries every failure to send a request (the SDK's clients report these
// failures with ConnectionError()), unless DNS does not know the host name. It does not
// retry a failed handshake whose error lacks that method.
type Classifier struct {
	Preset  Preset // whose rules apply
	Service string // adds the rules of one service, named as for [Preset.Policy]; a service without such rules, or "": none

	// RenewsCredentials states that the operation renews expired credentials, as the SDKs
	// for Go v1 and JavaScript v2 do. [GoV1] then retries the codes ExpiredToken,
	// ExpiredTokenException and RequestExpired, and [JavaScriptV2] RequestExpired and
	// ExpiredToken. Other presets ignore the field.
	RenewsCredentials bool

	// CorrectsClockSkew states that the operation adjusts its clock to the server's,
	// as several SDKs do. Errors caused by a wrong clock are then retried; Java v1
	// always retries them, botocore never.
	CorrectsClockSkew bool
}

// Classify implements [retry.Classifier].
func (c Classifier) Classify(err error) retry.Verdict { return retry.Verdict{Class: c.class(err)} }

func (c Classifier) class(err error) retry.Class {
	f := errfacts.Read(err)
	c.Service = serviceKey(c.Service)
	if f.Canceled {
		return retry.ClassPermanent
	}
	switch c.Preset {
	case BotocoreLegacy:
		return botocoreLegacyClass(c, &f)
	case BotocoreStandard20:
		return botocoreStandardClass(c, &f)
	case GoV1:
		return goV1Class(c, &f)
	case GoV2Standard20:
		return goV2Class(c, &f)
	case JavaV1:
		return javaV1Class(&f)
	case JavaV2Legacy, JavaV2Standard20:
		return javaV2Class(c, &f)
	case JavaScriptV2:
		return javaScriptV2Class(c, &f)
	case JavaScriptV3Standard20:
		return javaScriptV3Class(c, &f)
	}
	return standardClass(c, &f)
}

// Validate reports a Preset that is not one of the constants.
func (c Classifier) Validate() error {
	var faults []string
	if int(c.Preset) >= len(presets) {
		faults = append(faults, fmt.Sprintf("%v is not a preset", c.Preset))
	}
	return invalid("classifier", faults)
}

func invalid(what string, faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%w retry %s: %s", retry.ErrInvalid, what, strings.Join(faults, "; "))
}

// services are the services for which an SDK has rules of its own.
var services = []string{
	"cloudsearch", DynamoDB, DynamoDBStreams, "ec2", "glacier", "kinesis", "organizations", "rdsdata", "route53", "s3", "sqs", "sts",
}

// serviceKey returns a service's name in lower case and without spaces and hyphens, so that
// its name in the AWS CLI and its ID in an SDK are the same; "" for a service without rules
// of its own.
func serviceKey(name string) string {
	key := strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, name))
	if !slices.Contains(services, key) {
		return ""
	}
	return key
}

// standardClass applies the rules that most standard modes share.
func standardClass(c Classifier, f *errfacts.Facts) retry.Class {
	switch {
	case f.Status == 429 || errfacts.IsThrottlingCode(f.Code):
		return retry.ClassThrottled
	case isTransientStatus(f.Status), f.Code == "RequestTimeout", f.Code == "RequestTimeoutException",
		f.Said == errfacts.Yes, c.CorrectsClockSkew && isClockSkew(f.Code),
		c.Service == DynamoDB && f.Code == "ReplicatedWriteConflictException",
		c.Service == "sts" && (f.Code == "IDPCommunicationError" || f.Code == "IDPCommunicationErrorException"):
		return retry.ClassTransient
	case f.Kind == errfacts.TLS:
		return retry.ClassPermanent
	}
	return networkClass(f)
}

// networkClass classifies a network error that occurred before a response arrived or
// while a successful response was read. Any other error is permanent.
func networkClass(f *errfacts.Facts) retry.Class {
	switch {
	case f.Kind <= errfacts.Request || f.Status >= 400 || f.Code != "":
		return retry.ClassPermanent
	case f.Kind == errfacts.Timeout:
		return retry.ClassTimeout
	}
	return retry.ClassTransient
}

// javaScriptV2Class applies the rules of lib/service.js and lib/services/*.js.
// Redirects are not errors here.
func javaScriptV2Class(c Classifier, f *errfacts.Facts) retry.Class {
	switch {
	case f.Said == errfacts.No:
		return retry.ClassPermanent
	case f.Status == 429 || isJSThrottling(f.Code):
		return retry.ClassThrottled
	case f.Said == errfacts.Yes:
		return retry.ClassTransient
	case f.Code == "TimeoutError":
		return retry.ClassTimeout
	case f.Status >= 500, f.Code == "NetworkingError", f.Code == "ExpiredTokenException", f.Code == "XMLParserError",
		strings.Contains(f.Code, "Signature") && strings.Contains(f.Message, "expired"),
		c.RenewsCredentials && (f.Code == "RequestExpired" || f.Code == "ExpiredToken"),
		c.CorrectsClockSkew && isClockSkew(f.Code),
		c.retriedByJavaScriptV2(f),
		isClientError(f): // the SDK's NetworkingError

		return retry.ClassTransient
	}
	return networkClass(f)
}

func (c Classifier) retriedByJavaScriptV2(f *errfacts.Facts) bool {
	switch c.Service {
	case DynamoDB:
		return f.Code == "CRC32CheckFailed"
	case "rdsdata":
		return f.Status == 400 && f.Code == "BadRequestException" && strings.HasPrefix(f.Message, "Communications link failure")
	case "route53":
		return f.Status == 400 && f.Code == "PriorRequestNotComplete"
	case "s3":
		return f.Code == "RequestTimeout"
	case "sqs":
		return f.Code == "InvalidChecksum"
	case "sts":
		return f.Code == "IDPCommunicationErrorException" || f.Code == "InvalidIdentityToken"
	}
	return false
}

// javaScriptV3Class applies the rules of service-error-classification.
func javaScriptV3Class(c Classifier, f *errfacts.Facts) retry.Class {
	switch {
	case f.Status == 429 || errfacts.IsThrottlingCode(f.Code):
		return retry.ClassThrottled
	case f.Code == "AbortError":
		return retry.ClassPermanent
	case f.Code == "TimeoutError",
		f.Code == "InvalidSignatureException" && strings.Contains(f.Message, "Signature expired"),
		textHas(f, "REFUSED_STREAM"): // the server has not processed the request; net/http has no type for this error
		return retry.ClassTransient
	}
	return standardClass(c, f)
}

// botocoreLegacyClass applies the rules of _retry.json. In botocore, a client for
// Organizations removes the rule for 429 from all clients of its session; here only
// that service lacks the rule.
func botocoreLegacyClass(c Classifier, f *errfacts.Facts) retry.Class {
	switch {
	case c.Service == DynamoDB && f.Code == "ChecksumError":
		return retry.ClassTransient
	case f.Status < 400:
		return networkClass(f)
	case !c.retriedByBotocoreLegacy(f.Status, f.Code):
		return retry.ClassPermanent
	case f.Status == 429 || errfacts.IsThrottlingCode(f.Code):
		return retry.ClassThrottled
	}
	return retry.ClassTransient
}

func (c Classifier) retriedByBotocoreLegacy(status int, code string) bool {
	if c.Service == "organizations" && status == 429 {
		return false // the service's rule for one code replaces the rule for the status
	}
	for _, r := range botocoreRules {
		if (r.service == "" || r.service == c.Service) && r.status == status && (r.code == "" || r.code == code) {
			return true
		}
	}
	return false
}

// botocoreRules contains the rules of _retry.json; "" means any service or any code.
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
	{DynamoDB, 409, "ReplicatedWriteConflictException"},
	{DynamoDB, 400, "TransactionInProgressException"},
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

// botocoreStandardClass applies the rules of botocore's standard mode until 1.43.
func botocoreStandardClass(c Classifier, f *errfacts.Facts) retry.Class {
	switch {
	case errfacts.IsThrottlingCode(f.Code):
		return retry.ClassThrottled
	case isTransientStatus(f.Status), f.Code == "RequestTimeout", f.Code == "RequestTimeoutException",
		f.Said == errfacts.Yes,
		c.Service == "sts" && f.Code == "IDPCommunicationError",
		c.Service == DynamoDB && f.Code == "ChecksumError",
		isClientError(f): // botocore's HTTPClientError
		return retry.ClassTransient
	}
	return networkClass(f)
}

// goV1Class applies the rules of aws/request/retryer.go and of the services' customizations.
func goV1Class(c Classifier, f *errfacts.Facts) retry.Class {
	switch {
	case f.Status == 429, f.Status == 502, f.Status == 503, f.Status == 504,
		isGoV1Throttling(f.Code), c.Service == "kinesis" && f.Code == "LimitExceededException":
		return retry.ClassThrottled
	case f.Status == 500,
		f.Code == "RequestTimeout", f.Code == "RequestTimeoutException", f.Code == "ResponseTimeout",
		c.RenewsCredentials && (f.Code == "ExpiredToken" || f.Code == "ExpiredTokenException" || f.Code == "RequestExpired"),
		c.Service == "sts" && f.Code == "IDPCommunicationError",
		c.Service == "sqs" && f.Code == "InvalidChecksum",
		c.Service == DynamoDB && (f.Code == "CRC32CheckFailed" || f.Code == "ChecksumError"):
		return retry.ClassTransient
	case textHas(f, "read: connection reset"): // the SDK takes it for a reset after the request was executed
		return retry.ClassPermanent
	case f.Kind == errfacts.TLS, isClientError(f):
		return retry.ClassTransient
	}
	return networkClass(f)
}

// goV2Class applies the rules of retry.DefaultRetryables until v1.47, in their order.
func goV2Class(c Classifier, f *errfacts.Facts) retry.Class {
	throttled := errfacts.IsThrottlingCode(f.Code)
	class := retry.ClassPermanent
	switch {
	case f.Said == errfacts.No:
	case f.Said == errfacts.Yes:
		class = retry.ClassTransient
	case f.Kind == errfacts.NotFound:
	case f.Lost, f.Kind == errfacts.Timeout, isTransientStatus(f.Status), throttled,
		f.Code == "RequestTimeout", f.Code == "RequestTimeoutException", textHas(f, "connection reset", "use of closed network connection", "connection refused"),
		c.Service == "sts" && f.Code == "IDPCommunicationError",
		c.CorrectsClockSkew && (isClockSkew(f.Code) || f.Code == "AccessDeniedException"):
		class = retry.ClassTransient
	}
	switch {
	case class == retry.ClassPermanent:
		return class
	case throttled:
		return retry.ClassThrottled
	case f.Kind == errfacts.Timeout:
		return retry.ClassTimeout
	}
	return class
}

// isClientError reports whether all that is known is that an HTTP client failed.
func isClientError(f *errfacts.Facts) bool {
	return f.Kind == errfacts.Request && f.Status == 0 && f.Code == ""
}

// textHas reports whether the error does not come from a response and its text contains
// one of the words. Some network errors can be recognized only by their text.
func textHas(f *errfacts.Facts, words ...string) bool {
	if f.Err == nil || f.Status != 0 || f.Code != "" {
		return false
	}
	text, _ := errfacts.Guarded(f.Err.Error)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// javaV1Class applies the rules of RetryUtils.java and PredefinedRetryPolicies.java,
// which are the same in all modes. The SDK derives the code of a response without a
// body from its status line: "503 Slow Down" becomes SlowDown.
func javaV1Class(f *errfacts.Facts) retry.Class {
	if status, words, ok := strings.Cut(f.Code, " "); ok && status == strconv.Itoa(f.Status) {
		f.Code = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, words)
	}
	switch {
	case f.Status == 429 || isJavaThrottling(f.Code):
		return retry.ClassThrottled
	case isTransientStatus(f.Status), isJavaRetryable(f.Code), isClockSkew(f.Code):
		return retry.ClassTransient
	}
	return networkClass(f)
}

// javaV2Class applies the rules of AwsRetryStrategy and AwsErrorCode until 2.57, and in legacy
// mode. Some codes that report a wrong clock are always retried, others only if the clock is
// corrected.
func javaV2Class(c Classifier, f *errfacts.Facts) retry.Class {
	switch {
	case f.Status == 429,
		errfacts.IsThrottlingCode(f.Code) && f.Code != "PriorRequestNotComplete" && f.Code != "LimitExceededException":
		return retry.ClassThrottled
	case isTransientStatus(f.Status), f.Said == errfacts.Yes,
		f.Code == "PriorRequestNotComplete", f.Code == "RequestTimeout", f.Code == "RequestTimeoutException",
		f.Code == "InternalError", f.Code == "RequestTimeTooSkewed", f.Code == "RequestExpired", f.Code == "RequestInTheFuture",
		c.CorrectsClockSkew && isClockSkew(f.Code),
		c.Service == DynamoDB && f.Code == "ReplicatedWriteConflictException":
		return retry.ClassTransient
	}
	return networkClass(f)
}

func isTransientStatus(status int) bool {
	return status == 500 || status == 502 || status == 503 || status == 504
}

func isJSThrottling(code string) bool {
	switch code {
	case "ProvisionedThroughputExceededException", "Throttling", "ThrottlingException", "RequestLimitExceeded",
		"RequestThrottled", "RequestThrottledException", "TooManyRequestsException",
		"TransactionInProgressException", "EC2ThrottledException":
		return true
	}
	return false
}

func isGoV1Throttling(code string) bool {
	switch code {
	case "ProvisionedThroughputExceededException", "ThrottledException", "Throttling", "ThrottlingException",
		"RequestLimitExceeded", "RequestThrottled", "RequestThrottledException", "TooManyRequestsException",
		"PriorRequestNotComplete", "TransactionInProgressException", "EC2ThrottledException":
		return true
	}
	return false
}

func isJavaThrottling(code string) bool {
	switch code {
	case "Throttling", "ThrottlingException", "ThrottledException", "ProvisionedThroughputExceededException",
		"SlowDown", "TooManyRequestsException", "RequestLimitExceeded", "BandwidthLimitExceeded",
		"RequestThrottled", "RequestThrottledException", "EC2ThrottledException", "PriorRequestNotComplete":
		return true
	}
	return false
}

func isJavaRetryable(code string) bool {
	switch code {
	case "TransactionInProgressException", "RequestTimeout", "RequestTimeoutException", "IDPCommunicationError":
		return true
	}
	return false
}

func isClockSkew(code string) bool {
	switch code {
	case "RequestTimeTooSkewed", "RequestExpired", "InvalidSignatureException", "SignatureDoesNotMatch",
		"AuthFailure", "RequestInTheFuture":
		return true
	}
	return false
}
