package errfacts

import (
	"reflect"
	"time"
)

// The methods of errors that are read.
type (
	statusCoder interface{ HTTPStatusCode() int }
	httpCoder   interface{ HTTPCode() int }
	plainCoder  interface{ StatusCode() int }
	wordCoder   interface{ Code() string }
	errorCoder  interface{ ErrorCode() string }
	messager    interface{ ErrorMessage() string }
	sqlStater   interface{ SQLState() string }
	redisError  interface {
		error
		RedisError()
	}
	labeler       interface{ HasErrorLabel(string) bool }
	nonRetriable  interface{ NonRetriable() }
	nonRetryable  interface{ NonRetryable() bool }
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

// hasMethods reports whether err has one of the methods that readMethods calls.
func hasMethods(err any) bool {
	switch err.(type) {
	case statusCoder, httpCoder, plainCoder, errorCoder, messager, sqlStater, redisError, labeler, nonRetriable, nonRetryable,
		retryableErr, retryable, isRetryable, isRetriable, safeToRetry, canceledErr, connectionErr, temporary, Timeouter, mongoErr:
		return true
	}
	return false
}

// receiver returns the value whose methods are to be called: err, or a pointer to a copy of
// it if a program returns a value whose methods have a pointer as receiver.
func (info *typeInfo) receiver(err error) any {
	if !info.byPointer {
		return err
	}
	copied := reflect.New(info.of)
	copied.Elem().Set(reflect.ValueOf(err))
	return copied.Interface()
}

// readMethods calls the methods of err. What an error further out reports is kept. A method
// that panics says nothing.
func (f *Facts) readMethods(err any) {
	guarded(func() { f.readStatus(err) })
	guarded(func() { f.readResponse(err) })
	guarded(func() { f.readDatabase(err) })
	guarded(func() { f.readConnection(err) })
	if f.Verdict == None { // errors further out have precedence, and then methods that forbid a retry
		guarded(func() { f.Verdict = verdictOf(err) })
	}
	if f.Verdict == None && Reports(func() bool { return allows(err) }) {
		f.Verdict = Yes
	}
}

func guarded(read func()) {
	defer func() { _ = recover() }()
	read()
}

// readStatus calls the method that returns the status of a response.
func (f *Facts) readStatus(err any) {
	if f.Status != 0 {
		return
	}
	switch e := err.(type) {
	case statusCoder:
		f.Status = e.HTTPStatusCode()
	case httpCoder:
		f.Status = e.HTTPCode()
	case plainCoder:
		f.Status = e.StatusCode()
		if c, ok := err.(wordCoder); ok && f.Code == "" { // of aws-sdk-go v1: throttling has status 400
			f.Code = c.Code()
			f.Renewed = isRenewed(f.Code)
		}
	}
}

// readResponse calls the methods that describe the response of a service.
func (f *Facts) readResponse(err any) {
	if e, ok := err.(errorCoder); ok && f.Code == "" {
		f.Code = e.ErrorCode()
	}
	if e, ok := err.(messager); ok && f.Message == "" {
		f.Message = e.ErrorMessage()
	}
}

// readDatabase calls the methods that describe the response of a database.
func (f *Facts) readDatabase(err any) {
	if e, ok := err.(sqlStater); ok {
		r := replyOfSQLState(e.SQLState(), reflect.ValueOf(err))
		f.report(r.class, r.unrepeatable)
	}
	if e, ok := err.(redisError); ok && f.Redis == "" {
		f.Redis = e.Error()
	}
	if e, ok := err.(labeler); ok {
		if e.HasErrorLabel("SystemOverloadedError") {
			f.report(Throttled, false)
		}
		// The commit may be repeated, but the transaction may not, and only the caller
		// knows which of the two a retry would repeat.
		if e.HasErrorLabel("UnknownTransactionCommitResult") {
			f.report(Transient, true)
		}
	}
	if e, ok := err.(mongoErr); ok {
		for _, code := range e.ErrorCodes() {
			f.report(replyOf(mongoError, int64(code)).class, false)
		}
	}
}

// readConnection calls the methods that describe how a connection, or the wait for
// a response, ended.
func (f *Facts) readConnection(err any) {
	if e, ok := err.(connectionErr); ok && e.ConnectionError() {
		f.Kind = max(f.Kind, Connection)
		f.Lost = true
	}
	if e, ok := err.(temporary); ok && e.Temporary() {
		f.Lost = true
		f.Fallback = max(f.Fallback, Transient)
	}
	if e, ok := err.(Timeouter); ok && e.Timeout() {
		f.Kind = max(f.Kind, Timeout)
	}
	if e, ok := err.(canceledErr); ok && e.CanceledError() {
		f.Canceled = true
	}
}

// verdictOf calls the methods that report whether to retry.
func verdictOf(err any) Verdict {
	var yes bool
	switch e := err.(type) {
	case nonRetriable:
		return No
	case nonRetryable:
		if e.NonRetryable() {
			return No
		}
		return None
	case retryableErr:
		yes = e.RetryableError()
	case retryable:
		yes = e.Retryable()
	case isRetryable:
		yes = e.IsRetryable()
	default:
		return None
	}
	if yes {
		return Yes
	}
	return No
}

// allows calls the methods that only allow a retry.
func allows(err any) bool {
	switch e := err.(type) {
	case safeToRetry:
		return e.SafeToRetry()
	case isRetriable: // false for errors of Kafka that a new request may avoid
		return e.IsRetriable()
	case labeler:
		return e.HasErrorLabel("TransientTransactionError") || e.HasErrorLabel("RetryableWriteError")
	}
	return false
}
