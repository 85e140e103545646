package retry

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// AWSClassifier decides which errors an AWS SDK retries. Every [AWSProfile]
// brings its own.
//
// It reads errors as [DefaultClassifier] does, by their methods and standard
// types, and then decides as the SDK decides. What an SDK throws itself is
// recognised by its equivalent in Go: the errors of package net, io.EOF,
// io.ErrUnexpectedEOF, the errors of TLS, and Timeout() and ConnectionError().
// A failed checksum is an error with the code ChecksumError, or
// CRC32CheckFailed in JavaScript v2. An error without a status, a code or such
// a kind is permanent: the SDKs do not retry it either, but for botocore's
// standard modes, which retry whatever an HTTP client reports. So it always has
// an opinion, and nothing behind it in [FirstOf] is asked.
//
// What an error says of itself counts as what an SDK's model says: Retryable()
// or RetryableError() true is a yes whatever the status, but for botocore's
// legacy mode and Java v1; false is a no in Go v2 and JavaScript v2 only.
//
// In all SDKs the statuses 500, 502, 503 and 504 are retried, and most codes
// that mean throttling: docs/aws.md has the list of each. They differ in other
// statuses (429 without such a code is retried by all but botocore's standard
// modes and Go v2), in codes of single services, and in failures of the
// network: a name that DNS does not know is final for Go v2 only, a failed TLS
// handshake for JavaScript v3, Go v2 and AWSStandard2026.
type AWSClassifier struct {
	Profile AWSProfile // whose rules
	Service string     // adds the rules of one service, by the name that the AWS CLI has for it; "": none

	// RenewsCredentials says that the operation fetches new credentials after
	// they expired, as the SDK for JavaScript v2 does; its codes RequestExpired
	// and ExpiredToken are then worth a retry. Other SDKs do not look at it.
	RenewsCredentials bool

	// CorrectsClockSkew says that the operation corrects its clock by that of
	// the server, as several SDKs do; errors that come from a wrong clock are
	// then worth a retry. Java v1 retries them in any case, botocore in none.
	CorrectsClockSkew bool
}

// Classify returns the class of err.
func (c AWSClassifier) Classify(err error) Class {
	f := facts{err: err}
	if f.read(err); f.canceled {
		return ClassPermanent
	}
	switch row := c.Profile.row(); row.sdk {
	case "botocore":
		if row.mode == "legacy" {
			return awsBotocoreLegacyClass(c, &f)
		}
		return awsBotocoreClass(c, &f)
	case "go-v2":
		return awsGoV2Class(c, &f)
	case "java-v1":
		return awsJavaV1Class(&f)
	case "java-v2":
		return awsJavaV2Class(c, row.generation == "2026", &f)
	case "js-v2":
		return awsJavaScriptV2Class(c, &f)
	case "js-v3":
		return awsJavaScriptV3Class(c, &f)
	}
	return awsStandardClass(c, &f)
}

// Validate reports a Profile that is none of the constants, and a Service that
// cannot be a name of the AWS CLI: those have small letters, digits and hyphens.
func (c AWSClassifier) Validate() error {
	var faults []string
	if int(c.Profile) >= len(awsProfiles) {
		faults = append(faults, fmt.Sprintf("%v is no AWS profile", c.Profile))
	}
	if !isServiceName(c.Service) {
		faults = append(faults, fmt.Sprintf("%q does not name a service as the AWS CLI does, as in dynamodb", c.Service))
	}
	return invalid("classifier", faults)
}

// isServiceName reports whether name has only what names of AWS services have.
func isServiceName(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// awsStandardClass has the rules that most SDKs share in their standard modes.
func awsStandardClass(c AWSClassifier, f *facts) Class {
	switch {
	case f.status == 429 || isAWSThrottling(f.code):
		return ClassThrottled
	case isAWSTransientStatus(f.status), f.code == "RequestTimeout", f.code == "RequestTimeoutException",
		f.word == ClassTransient, c.CorrectsClockSkew && isAWSClockSkew(f.code),
		c.Service == "dynamodb" && f.code == "ReplicatedWriteConflictException",
		c.Service == "sts" && (f.code == "IDPCommunicationError" || f.code == "IDPCommunicationErrorException"):
		return ClassTransient
	case f.kind == kindTLS:
		return ClassPermanent
	}
	return f.networkClass()
}

// networkClass is the class of an error that came from the network and not
// from the service, also within an answer that began well; any other is
// permanent.
func (f *facts) networkClass() Class {
	switch {
	case f.kind <= kindRequest || f.status >= 400 || f.code != "":
		return ClassPermanent
	case f.kind == kindTimeout:
		return ClassTimeout
	}
	return ClassTransient
}

// awsJavaScriptV2Class has the rules of lib/service.js and lib/services/*.js.
// Redirects are not errors here.
func awsJavaScriptV2Class(c AWSClassifier, f *facts) Class {
	switch {
	case f.word == ClassPermanent:
		return ClassPermanent
	case f.status == 429 || isAWSJSThrottling(f.code):
		return ClassThrottled
	case f.word == ClassTransient:
		return ClassTransient
	case f.code == "TimeoutError":
		return ClassTimeout
	case f.status >= 500, f.code == "NetworkingError", f.code == "ExpiredTokenException", f.code == "XMLParserError",
		strings.Contains(f.code, "Signature") && strings.Contains(f.message, "expired"),
		c.RenewsCredentials && (f.code == "RequestExpired" || f.code == "ExpiredToken"),
		c.CorrectsClockSkew && isAWSClockSkew(f.code),
		c.retriedByJavaScriptV2(f):
		return ClassTransient
	}
	return f.networkClass()
}

func (c AWSClassifier) retriedByJavaScriptV2(f *facts) bool {
	switch c.Service {
	case "dynamodb":
		return f.code == "CRC32CheckFailed"
	case "rds-data":
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

// awsJavaScriptV3Class has the rules of service-error-classification.
func awsJavaScriptV3Class(c AWSClassifier, f *facts) Class {
	old := c.Profile == AWSJavaScriptV3StandardLateCap
	switch {
	case f.status == 429 || isAWSThrottling(f.code):
		return ClassThrottled
	case f.code == "AbortError" && !old:
		return ClassPermanent
	case f.code == "TimeoutError",
		f.code == "InvalidSignatureException" && strings.Contains(f.message, "Signature expired") && !old,
		!old && f.textHas("REFUSED_STREAM"): // the server has not processed the request; net/http has no type for it
		return ClassTransient
	}
	return awsStandardClass(c, f)
}

// awsBotocoreLegacyClass has the rules of _retry.json. In botocore a client
// for Organizations drops the rule for 429 in all clients of its session, here
// only for that service.
func awsBotocoreLegacyClass(c AWSClassifier, f *facts) Class {
	switch {
	case c.Service == "dynamodb" && f.code == "ChecksumError":
		return ClassTransient
	case f.status < 400:
		return f.networkClass()
	case !c.retriedByBotocoreLegacy(f.status, f.code):
		return ClassPermanent
	case f.status == 429 || isAWSThrottling(f.code):
		return ClassThrottled
	}
	return ClassTransient
}

func (c AWSClassifier) retriedByBotocoreLegacy(status int, code string) bool {
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

// awsBotocoreClass has the rules of botocore's standard modes.
func awsBotocoreClass(c AWSClassifier, f *facts) Class {
	switch {
	case isAWSThrottling(f.code):
		return ClassThrottled
	case isAWSTransientStatus(f.status), f.code == "RequestTimeout", f.code == "RequestTimeoutException",
		f.word == ClassTransient,
		c.Service == "sts" && f.code == "IDPCommunicationError",
		c.Service == "dynamodb" && f.code == "ChecksumError",
		f.kind == kindRequest && f.status == 0 && f.code == "": // botocore's HTTPClientError, whatever it comes from
		return ClassTransient
	}
	return f.networkClass()
}

// awsGoV2Class has the rules of retry.DefaultRetryables, in their order.
func awsGoV2Class(c AWSClassifier, f *facts) Class {
	class := ClassPermanent
	switch {
	case f.word != ClassUnknown:
		class = f.word
	case f.kind == kindNotFound:
	case f.lost, f.kind == kindTimeout, isAWSTransientStatus(f.status), isAWSThrottling(f.code),
		f.code == "RequestTimeout", f.code == "RequestTimeoutException", f.textHas("connection reset", "use of closed network connection", "connection refused"),
		c.Service == "sts" && f.code == "IDPCommunicationError",
		c.CorrectsClockSkew && (isAWSClockSkew(f.code) || f.code == "AccessDeniedException"):
		class = ClassTransient
	}
	switch {
	case class == ClassPermanent:
		return class
	case isAWSThrottling(f.code):
		return ClassThrottled
	case f.kind == kindTimeout:
		return ClassTimeout
	}
	return class
}

// textHas looks for one of the words in the text of an error that is not of the
// service: some failures of the network can be told by nothing else.
func (f *facts) textHas(words ...string) bool {
	if f.err == nil || f.status != 0 || f.code != "" {
		return false
	}
	text, _ := guarded(f.err.Error)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// awsJavaV1Class has the rules of RetryUtils.java and PredefinedRetryPolicies.java,
// which are the same in all modes. A code that is a status line ("503 Slow
// Down"), which answers without a body get, counts as the code that its words
// make.
func awsJavaV1Class(f *facts) Class {
	if status, words, ok := strings.Cut(f.code, " "); ok && status == strconv.Itoa(f.status) {
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
	case isAWSTransientStatus(f.status), isAWSJavaRetryable(f.code), isAWSClockSkew(f.code):
		return ClassTransient
	}
	return f.networkClass()
}

// awsJavaV2Class has the rules of the SDK's AwsRetryStrategy and
// AwsErrorCode. Some codes of a wrong clock count in any case, others only if
// the clock is wrong.
func awsJavaV2Class(c AWSClassifier, since2026 bool, f *facts) Class {
	switch {
	case f.status == 429,
		isAWSThrottling(f.code) && f.code != "PriorRequestNotComplete" && (f.code != "LimitExceededException" || since2026):
		return ClassThrottled
	case isAWSTransientStatus(f.status), f.word == ClassTransient,
		f.code == "PriorRequestNotComplete", f.code == "RequestTimeout", f.code == "RequestTimeoutException",
		f.code == "InternalError", f.code == "RequestTimeTooSkewed", f.code == "RequestExpired", f.code == "RequestInTheFuture",
		c.CorrectsClockSkew && isAWSClockSkew(f.code),
		c.Service == "sts" && f.code == "IDPCommunicationError" && since2026,
		c.Service == "dynamodb" && f.code == "ReplicatedWriteConflictException":
		return ClassTransient
	}
	return f.networkClass()
}

func isAWSTransientStatus(status int) bool {
	return status == 500 || status == 502 || status == 503 || status == 504
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
