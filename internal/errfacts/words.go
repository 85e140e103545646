package errfacts

import "strings"

// Words in the codes of services, in lower case and without underscores, hyphens and spaces.
// Those of throttling also count in the names of error types, without Err and Error.
const (
	permanentWords = "keyexists permissiondenied accessdenied unauthorized unauthenticated notauthed " +
		"unauthorizedaccess unauthorizedoperation unauthorizedclient authfailure authentication authorization forbidden " +
		"badrequest badroute malformed syntax validation constraint failedprecondition preconditionfailed conditionalcheckfailed " +
		"outofrange unimplemented notimplemented notallowed notsupported unsupported unsupportedgranttype tokenexpired " +
		"decodeerror clienterror databaseerror messagesizeexceeded messagetoolarge"
	throttledWords = "ratelimited ratelimitexceeded throttling throttled toomanyrequests requestlimitexceeded " +
		"resourceexhausted resourcelimitexceeded slowdown serverbusy overloaded"
	timeoutWords   = "deadlineexceeded timeout requesttimeout"
	transientWords = "authorizationpending temporarilyunavailable conflict locked unavailable aborted internal internalerror"
	canceledWords  = "canceled cancelled"
	conflictWords  = "concurrentmodification operationaborted"
)

// expiredCodes lists the codes after which aws-sdk-go v1, minio-go and the clients of Baidu
// and Alibaba renew their credentials or correct their clock, and repeat the request.
const expiredCodes = "ExpiredToken ExpiredTokenException RequestExpired RequestTimeTooSkewed"

// ofWord returns the class that a word stands for.
func ofWord(word string) Class {
	switch {
	case word == "":
	case hasWord(permanentWords, word), strings.HasSuffix(word, "notfound"), strings.HasSuffix(word, "alreadyexists"),
		strings.HasPrefix(word, "nosuch"), strings.HasPrefix(word, "invalid"):
		return Permanent
	case hasWord(throttledWords, word), strings.HasSuffix(word, "ratelimit"):
		return Throttled
	case hasWord(timeoutWords, word):
		return TimedOut
	case hasWord(transientWords, word):
		return Transient
	case hasWord(canceledWords, word):
		return Canceled
	}
	return Unknown
}

// typeWord returns the word in the name of an error type.
func typeWord(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "Err"), "err")
	for _, suffix := range []string{"Errors", "Error", "Exception"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return codeWord(name)
}

// codeWord returns the word in a code such as not_found, InvalidParameter.Subnet,
// amqp:not-found or Neo.ClientError.Statement.SyntaxError.
func codeWord(code string) string {
	code = strings.TrimPrefix(code[strings.LastIndexByte(code, ':')+1:], "Neo.")
	code, _, _ = strings.Cut(code, ".")
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

// hasWord reports whether list, separated by spaces, contains word.
func hasWord(list, word string) bool { return hasItem(list, word, ' ') }
