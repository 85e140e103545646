package errfacts

import "strings"

// Words in the names of error types (after removing Err and Error) and in the codes of
// services, in lower case and without underscores, hyphens and spaces.
const (
	permanentWords = "nosuchkey keyexists permissiondenied accessdenied unauthorized unauthenticated " +
		"invalidauth notauthed unauthorizedaccess unauthorizedoperation authfailure authentication authorization forbidden invalidargument invalidparameter invalidparametervalue invalidinput " +
		"invalidrequest invalidfield badrequest validation constraint failedprecondition preconditionfailed conditionalcheckfailed " +
		"outofrange unimplemented notimplemented notallowed notsupported unsupported badroute malformed syntax parse parseconfig parseaddr maxbytes tokenexpired unmarshaltype type " +
		"decodeerror clienterror databaseerror messagesizeexceeded messagetoolarge invalidgrant invalidclient unauthorizedclient unsupportedgranttype invalidscope"
	throttledWords = "ratelimited ratelimitexceeded throttling throttled toomanyrequests requestlimitexceeded " +
		"resourceexhausted resourcelimitexceeded slowdown serverbusy overloaded"
	timeoutWords   = "deadlineexceeded timeout requesttimeout"
	transientWords = "authorizationpending temporarilyunavailable conflict locked unavailable aborted internal internalerror"
	canceledWords  = "canceled cancelled"
)

// ofWord returns the class that a word stands for.
func ofWord(word string) Class {
	switch {
	case word == "":
	case hasWord(permanentWords, word), strings.HasSuffix(word, "notfound"), strings.HasSuffix(word, "alreadyexists"):
		return Permanent
	case hasWord(throttledWords, word), strings.HasSuffix(word, "ratelimit"):
		return Throttled
	case hasWord(timeoutWords, word):
		return TimedOut
	case hasWord(transientWords, word):
		return Transient
	case hasWord(canceledWords, word):
		return canceled
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
func hasWord(list, word string) bool {
	for list != "" {
		var first string
		if first, list, _ = strings.Cut(list, " "); first == word {
			return true
		}
	}
	return false
}
