package errfacts

import (
	"reflect"
	"strings"
)

// Class is what an error means for retrying, with the values of retry.Class.
type Class uint8

const (
	Unknown Class = iota
	Permanent
	Transient
	TimedOut
	Throttled
)

// Canceled is not a class of package retry. It means that the caller canceled the
// operation, so the server's response does not count.
const Canceled Class = 255

// Classify returns the class of err according to retry.DefaultClassifier's rules, and
// whether the operation may have taken effect although it failed. known, unless nil,
// precedes the rules for each error that err consists of.
func Classify(err error, known Known) (c Class, unrepeatable bool) {
	if known == nil {
		if c, unrepeatable, ok := OfPlain(err); ok { // the most common error, faster
			return c, unrepeatable
		}
	}
	f := Facts{Err: err}
	f.read(err, known)
	if !f.Methods && !f.Canceled && f.Class == Unknown {
		c = f.local()
		return c, f.Unrepeatable && c != Permanent
	}
	c = f.class()
	return c, f.Unrepeatable && c != Unknown && c != Permanent
}

func (f *Facts) class() Class {
	switch {
	case f.Canceled || f.Verdict == No:
		return Permanent
	case f.Overtime && !f.IsResponse():
		return TimedOut
	case f.Class == Throttled || IsThrottlingCode(f.Code) || ofStatus(int64(f.Status)) == Throttled:
		return Throttled
	case f.Verdict == Yes || f.Renewed:
		return Transient
	case f.Status == 409 && isConflictOfAWS(f.Code):
		return Transient
	case f.Status >= 400:
		return ofResponse(int64(f.Status), f.Code)
	case f.Redis != "":
		return ofRedis(f.Redis)
	case f.Class != Unknown:
		return f.Class
	case f.Code != "":
		if c := ofWord(typeWord(f.Code)); c != Unknown && c != Canceled {
			return c
		}
	}
	return f.local()
}

// local returns the class of an error that is not a server's response.
func (f *Facts) local() Class {
	switch f.Kind {
	case Timeout:
		return TimedOut
	case TLS, Invalid:
		return Permanent
	case Connection, Closed, Truncated, NotFound:
		return Transient
	}
	return f.Fallback
}

// ofStatus returns the class of an HTTP status. Numbers that are not in the registry, or
// mean something else elsewhere, have none: SMTP has 450 to 452, SIP has 480 to 494, and
// proxies have their own.
//
//go:noinline
func ofStatus(status int64) Class {
	switch status {
	case 408:
		return TimedOut
	case 420, 429, 430, 529: // 420, 430 and 529 of Twitter, Shopify and Anthropic
		return Throttled
	case 421, 423, 425:
		return Transient
	case 501, 505, 506, 508, 510, 511:
		return Permanent
	}
	switch {
	case status >= 500 && status < 530:
		return Transient
	case status >= 400 && status <= 431:
		return Permanent
	}
	return Unknown
}

// ofResponse returns the class of a response with this status and the code of a service.
// S3 and some clouds report timeouts and throttling with status 400.
func ofResponse(status int64, code string) Class {
	c := ofStatus(status)
	if code == "" {
		return c
	}
	switch word := typeWord(code); {
	case hasWord(timeoutWords, word):
		return TimedOut
	case c == Permanent && ofWord(word) == Throttled:
		return Throttled
	}
	return c
}

// isConflictOfAWS reports whether a code is that of a conflict with another request, rather
// than with an object that exists already. The models of AWS mark such codes as retryable,
// in some services (botocore 1.44), and botocore retries those of DynamoDB.
func isConflictOfAWS(code string) bool {
	word := typeWord(code)
	return strings.HasSuffix(word, "conflict") || hasWord(conflictWords, word)
}

// ofServiceStatus returns the class of a status that some services use in their own way.
func ofServiceStatus(o origin, status int64, v reflect.Value) Class {
	switch {
	case o == sdkStatus && status == 409: // a lock; their clients repeat the request
		return Transient
	case o == kubernetesStatus && text(v, "ErrStatus.Reason") == "Conflict", // RetryOnConflict of client-go 0.37
		o == ociStatus && status == 409 && text(v, "Code") == "IncorrectState": // DefaultRetryPolicy of oci-go-sdk 65
		return Transient
	case o == vaultStatus && status == 412: // the server lags behind a write
		return Transient
	case o == oauthStatus: // RFC 6749 and RFC 8628
		if c := ofWord(codeWord(text(v, "ErrorCode"))); c != Unknown {
			return c
		}
	case o == googleStatus && isGoogleLimit(field(v, "Errors")):
		return Throttled
	}
	return ofStatus(status)
}

// isGoogleLimit reports whether one of the items of the response is about a limit.
// Several services send such errors with status 403.
func isGoogleLimit(items reflect.Value) bool {
	if items.Kind() != reflect.Slice {
		return false
	}
	for i := range items.Len() {
		switch text(items.Index(i), "Reason") {
		case "rateLimitExceeded", "userRateLimitExceeded":
			return true
		}
	}
	return false
}
