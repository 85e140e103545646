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
	getCoder    interface{ GetStatusCode() int }
	swaggerErr  interface { // of go-swagger
		Code() int
		IsClientError() bool
		IsServerError() bool
	}
	wordCoder  interface{ Code() string }
	errorCoder interface{ ErrorCode() string }
	messager   interface{ ErrorMessage() string }
	sqlStater  interface{ SQLState() string }
	redisError interface {
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
	shouldRetry   interface{ ShouldRetry() bool }
	retriable     interface{ Retriable() bool }
	canRetry      interface{ CanRetry() bool }
	isPermanent   interface{ IsPermanent() bool }
	permanentErr  interface{ Permanent() bool }
	isTransient   interface{ IsTransient() bool }
	transientErr  interface{ Transient() bool }
	canceledErr   interface{ CanceledError() bool }
	connectionErr interface{ ConnectionError() bool }
	temporary     interface{ Temporary() bool }
	retryAfterer  interface{ RetryAfter() time.Duration }
	mongoErr      interface{ ErrorCodes() []int }
)

// asks are the groups of methods that a type has, so that each error is asked only what it can
// answer.
type asks uint8

const (
	asksStatus asks = 1 << iota
	asksResponse
	asksDatabase
	asksConnection
	asksVerdict
	asksAllowance
	asksWait
)

// asksOf returns the groups of methods that err has.
func asksOf(err any) (found asks) {
	switch err.(type) {
	case statusCoder, httpCoder, plainCoder, getCoder, swaggerErr:
		found |= asksStatus
	}
	switch err.(type) {
	case errorCoder, messager:
		found |= asksResponse
	}
	switch err.(type) {
	case sqlStater, redisError, labeler, mongoErr:
		found |= asksDatabase
	}
	switch err.(type) {
	case connectionErr, temporary, Timeouter, canceledErr:
		found |= asksConnection
	}
	switch err.(type) {
	case nonRetriable, nonRetryable, isPermanent, permanentErr, retryableErr, retryable, retriable, isRetryable, canRetry, shouldRetry:
		found |= asksVerdict
	}
	switch err.(type) {
	case safeToRetry, isRetriable, isTransient, transientErr, labeler:
		found |= asksAllowance
	}
	if _, ok := err.(retryAfterer); ok {
		found |= asksWait
	}
	return found
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

// askMethods reads what the methods of err say, except for the wait that it asks for.
func (a *answers) askMethods(info *typeInfo, err error) {
	called := info.receiver(err)
	if info.asks&asksStatus != 0 {
		guarded(func() { a.askStatus(called) })
	}
	if info.asks&asksResponse != 0 {
		guarded(func() { a.askResponse(called) })
	}
	if info.asks&asksDatabase != 0 {
		guarded(func() { a.askDatabase(called) })
	}
	if info.asks&asksConnection != 0 {
		guarded(func() { a.askConnection(called) })
	}
	if info.asks&asksVerdict != 0 {
		guarded(func() { a.verdict = verdictOf(called) })
	}
	if info.asks&asksAllowance != 0 {
		guarded(func() { a.askAllowance(called) })
	}
}

// askWait returns what the method RetryAfter of err says, or 0.
func (info *typeInfo) askWait(err error) time.Duration {
	wait, _ := Guarded(info.receiver(err).(retryAfterer).RetryAfter)
	return max(0, wait)
}

func guarded(read func()) {
	defer func() { _ = recover() }()
	read()
}

// askStatus calls the method that returns the status of a response.
func (a *answers) askStatus(err any) {
	switch e := err.(type) {
	case statusCoder:
		a.status = e.HTTPStatusCode()
	case httpCoder:
		a.status = e.HTTPCode()
	case plainCoder:
		a.status = e.StatusCode()
		if c, ok := err.(wordCoder); ok {
			a.codeOfV1 = c.Code()
		}
	case getCoder:
		a.status = e.GetStatusCode()
	case swaggerErr:
		a.status = e.Code()
	}
}

// askResponse calls the methods that describe the response of a service.
func (a *answers) askResponse(err any) {
	if e, ok := err.(errorCoder); ok {
		a.code = e.ErrorCode()
	}
	if e, ok := err.(messager); ok {
		a.message = e.ErrorMessage()
	}
}

// askDatabase calls the methods that describe the response of a database.
func (a *answers) askDatabase(err any) {
	if e, ok := err.(sqlStater); ok {
		a.state, a.hasState = e.SQLState(), true
		if a.state == notSupported {
			a.routine = text(reflect.ValueOf(err), "Routine")
		}
	}
	if e, ok := err.(redisError); ok {
		a.redis = e.Error()
	}
	if e, ok := err.(labeler); ok {
		a.overloaded = e.HasErrorLabel("SystemOverloadedError")
		a.commitLost = e.HasErrorLabel("UnknownTransactionCommitResult")
	}
	if e, ok := err.(mongoErr); ok {
		a.mongo = e.ErrorCodes()
	}
}

// askConnection calls the methods that describe how a connection, or the wait for
// a response, ended.
func (a *answers) askConnection(err any) {
	if e, ok := err.(connectionErr); ok {
		a.connection = e.ConnectionError()
	}
	if e, ok := err.(temporary); ok {
		a.temporary = e.Temporary()
	}
	if e, ok := err.(Timeouter); ok {
		a.timeout = e.Timeout()
	}
	if e, ok := err.(canceledErr); ok {
		a.canceled = e.CanceledError()
	}
}

// verdictOf calls the methods that report whether to retry.
func verdictOf(err any) Verdict {
	if forbidsRetry(err) {
		return No
	}
	var yes bool
	switch e := err.(type) {
	case retryableErr:
		yes = e.RetryableError()
	case retryable:
		yes = e.Retryable()
	case retriable:
		yes = e.Retriable()
	case isRetryable:
		yes = e.IsRetryable()
	case canRetry:
		yes = e.CanRetry()
	case shouldRetry:
		yes = e.ShouldRetry()
	default:
		return None
	}
	if yes {
		return Yes
	}
	return No
}

// forbidsRetry calls the methods that only forbid a retry.
func forbidsRetry(err any) bool {
	switch e := err.(type) {
	case nonRetriable:
		return true
	case nonRetryable:
		return e.NonRetryable()
	case isPermanent:
		return e.IsPermanent()
	case permanentErr:
		return e.Permanent()
	}
	return false
}

// askAllowance calls the methods that only allow a retry. Those that forbid one have precedence.
func (a *answers) askAllowance(err any) {
	allows := false
	switch e := err.(type) {
	case safeToRetry:
		a.safe = e.SafeToRetry()
		a.closed = err.(error).Error() == "conn closed"
		allows = a.safe
	case isRetriable: // false for errors of Kafka that a new request may avoid
		allows = e.IsRetriable()
	case isTransient:
		allows = e.IsTransient()
	case transientErr:
		allows = e.Transient()
	case labeler:
		allows = e.HasErrorLabel("TransientTransactionError") || e.HasErrorLabel("RetryableWriteError")
	}
	if allows && a.verdict == None {
		a.verdict = Yes
	}
}
