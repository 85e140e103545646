package errfacts

import (
	"reflect"
	"time"
)

// These types are named so that one (cached) type switch skips errors that have none of
// the methods.
type (
	statusCoder   interface{ HTTPStatusCode() int }
	httpCoder     interface{ HTTPCode() int }
	errorCoder    interface{ ErrorCode() string }
	messager      interface{ ErrorMessage() string }
	sqlStater     interface{ SQLState() string }
	redisError    interface{ RedisError() }
	labeler       interface{ HasErrorLabel(string) bool }
	nonRetriable  interface{ NonRetriable() }
	retryableErr  interface{ RetryableError() bool }
	retryable     interface{ Retryable() bool }
	safeToRetry   interface{ SafeToRetry() bool }
	isRetriable   interface{ IsRetriable() bool }
	isRetryable   interface{ IsRetryable() bool }
	canceledErr   interface{ CanceledError() bool }
	connectionErr interface{ ConnectionError() bool }
	temporary     interface{ Temporary() bool }
	retryAfterer  interface{ RetryAfter() time.Duration }
	mongoErr      interface{ ErrorCodes() []int }
)

// readMethods calls the methods of err. What an error further out reports is kept.
func (f *Facts) readMethods(err error) {
	f.Methods = true
	f.readResponse(err)
	f.readDatabase(err)
	f.readConnection(err)
	if f.Verdict == None {
		f.Verdict = verdictOf(err)
	}
}

// readResponse calls the methods that describe the response of a service.
func (f *Facts) readResponse(err error) {
	var status func() int
	switch e := err.(type) {
	case statusCoder:
		status = e.HTTPStatusCode
	case httpCoder:
		status = e.HTTPCode
	}
	if status != nil && f.Status == 0 {
		f.Status, _ = Guarded(status)
	}
	if e, ok := err.(errorCoder); ok && f.Code == "" {
		f.Code, _ = Guarded(e.ErrorCode)
	}
	if e, ok := err.(messager); ok && f.Message == "" {
		f.Message, _ = Guarded(e.ErrorMessage)
	}
}

// readDatabase calls the methods that describe the response of a database.
func (f *Facts) readDatabase(err error) {
	if e, ok := err.(sqlStater); ok {
		state, _ := Guarded(e.SQLState)
		r := replyOfSQLState(state, reflect.ValueOf(err))
		f.report(r.class, r.unrepeatable)
	}
	if _, ok := err.(redisError); ok && f.Redis == "" {
		f.Redis, _ = Guarded(err.Error)
	}
	if e, ok := err.(labeler); ok {
		if hasLabel(e, "SystemOverloadedError") {
			f.report(Throttled, false)
		}
		// The commit may be repeated, but the transaction may not, and only the caller
		// knows which of the two a retry would repeat.
		if hasLabel(e, "UnknownTransactionCommitResult") {
			f.report(Transient, true)
		}
	}
	if e, ok := err.(mongoErr); ok {
		codes, _ := Guarded(e.ErrorCodes)
		for _, code := range codes {
			f.report(replyOf(mongoError, int64(code)).class, false)
		}
	}
}

// readConnection calls the methods that describe how a connection, or the wait for
// a response, ended.
func (f *Facts) readConnection(err error) {
	if e, ok := err.(connectionErr); ok && Reports(e.ConnectionError) {
		f.Kind, f.Lost = max(f.Kind, Connection), true
	}
	if e, ok := err.(temporary); ok && Reports(e.Temporary) {
		f.Lost = true
	}
	if e, ok := err.(Timeouter); ok && Reports(e.Timeout) {
		f.Kind = max(f.Kind, Timeout)
	}
	if e, ok := err.(canceledErr); ok && Reports(e.CanceledError) {
		f.Canceled = true
	}
}

// verdictOf calls the methods that report whether to retry. If they disagree, No wins.
func verdictOf(err error) Verdict {
	var both, onlyYes func() bool
	switch e := err.(type) {
	case retryableErr:
		both = e.RetryableError
	case retryable:
		both = e.Retryable
	case isRetryable:
		both = e.IsRetryable
	}
	switch e := err.(type) {
	case nonRetriable:
		return No
	case safeToRetry:
		onlyYes = e.SafeToRetry
	case isRetriable: // false for errors of Kafka that a new request may avoid
		onlyYes = e.IsRetriable
	}
	if both != nil {
		if yes, ok := Guarded(both); yes {
			return Yes
		} else if ok {
			return No
		}
	}
	e, ok := err.(labeler)
	if onlyYes != nil && Reports(onlyYes) || ok && (hasLabel(e, "TransientTransactionError") || hasLabel(e, "RetryableWriteError")) {
		return Yes
	}
	return None
}

// hasLabel reports whether an error of MongoDB has a label.
//
//go:noinline
func hasLabel(e labeler, label string) bool {
	return Reports(func() bool { return e.HasErrorLabel(label) })
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
