package errfacts

import "strings"

// ofWord returns the class that a word stands for: the code of a service in lower case,
// without underscores, hyphens and spaces. Words of throttling also count in the names of
// error types, without Err and Error.
func ofWord(word string) Class {
	switch word {
	case "":
		return Unknown
	case "keyexists", "preconditionfailed", "failedprecondition", "conditionalcheckfailed", "constraint", "validation",
		"permission", "permissiondenied", "noperm", "wrongpass", "noauth", "wrongtype", "crossslot", "execabort", "accessdenied", "forbidden", "notallowed", "authorization",
		"unauthorized", "unauthorizedaccess", "unauthorizedoperation", "unauthorizedclient", "authorizationfailed",
		"unauthenticated", "notauthed", "authfailure", "authentication", "authenticationfailed", "privacyrequired", "tokenexpired",
		"badrequest", "badroute", "malformed", "syntax", "outofrange", "requesttoolarge", "messagesizeexceeded", "messagetoolarge",
		"itemcollectionsizelimitexceeded", "unimplemented", "notimplemented", "notsupported", "unsupported", "unsupportedgranttype",
		"decodeerror", "clienterror", "databaseerror":
		return Permanent
	case "ratelimited", "ratelimitexceeded", "throttling", "throttled", "toomanyrequests", "requestlimitexceeded",
		"resourceexhausted", "resourcelimitexceeded", "provisionedthroughputexceeded", "slowdown", "serverbusy", "overloaded":
		return Throttled
	case "deadlineexceeded", "timeout", "requesttimeout":
		return TimedOut
	case "authorizationpending", "temporarilyunavailable", "conflict", "transactionconflict", "locked", "unavailable", "aborted",
		"internal", "internalerror", "api", "server": // api_error of Anthropic, server_error of OpenAI
		return Transient
	case "canceled", "cancelled":
		return Canceled
	}
	switch {
	case isExhausted(word), strings.HasSuffix(word, "notfound"), strings.HasSuffix(word, "doesnotexist"), strings.HasSuffix(word, "alreadyexists"),
		strings.HasPrefix(word, "nosuch"), strings.HasPrefix(word, "invalid"):
		return Permanent
	case strings.HasSuffix(word, "ratelimit"):
		return Throttled
	}
	return Unknown
}

// isExhausted reports whether a word is about money or a quota that only a person can
// raise. Services send it with status 429, too.
func isExhausted(word string) bool {
	switch word {
	case "insufficientquota", "insufficientcredit", "insufficientcredits", "insufficientbalance", "insufficientfunds",
		"billing", "billinghardlimitreached", "billingnotactive":
		return true
	}
	return false
}

// isConflictOfAWS reports whether a code is that of a conflict with another request, rather
// than with an object that exists already. The models of AWS mark such codes as retryable,
// in some services (botocore 1.44), and botocore retries those of DynamoDB.
func isConflictOfAWS(code string) bool {
	word := typeWord(code)
	return strings.HasSuffix(word, "conflict") || word == "concurrentmodification" || word == "operationaborted"
}

// isRenewed reports whether aws-sdk-go v1, minio-go and the clients of Baidu and Alibaba
// renew their credentials, or correct their clock, after a code, and repeat the request.
func isRenewed(code string) bool {
	switch code {
	case "ExpiredToken", "ExpiredTokenException", "RequestExpired", "RequestTimeTooSkewed":
		return true
	}
	return false
}

// IsThrottlingCode reports whether code means throttling to the AWS SDKs.
func IsThrottlingCode(code string) bool {
	switch code {
	case "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException",
		"TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException",
		"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "RequestThrottled",
		"SlowDown", "PriorRequestNotComplete", "EC2ThrottledException":
		return true
	}
	return false
}

// typeWord returns the word in the name of an error type.
func typeWord(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "Err"), "err")
	for _, suffix := range [...]string{"Errors", "Error", "Exception"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return codeWord(name)
}

// codeWord returns the word in a code such as not_found, rate_limit_error, amqp:not-found,
// InvalidParameter.Subnet or Neo.ClientError.Statement.SyntaxError.
func codeWord(code string) string {
	code = strings.TrimPrefix(code[strings.LastIndexByte(code, ':')+1:], "Neo.")
	code, _, _ = strings.Cut(code, ".")
	code = strings.TrimSuffix(code, "_error")
	var word [32]byte
	n := 0
	for i := range len(code) {
		c := code[i]
		switch {
		case c == '_' || c == '-' || c == ' ':
			continue
		case n == len(word):
			return ""
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		word[n] = c
		n++
	}
	return string(word[:n])
}
