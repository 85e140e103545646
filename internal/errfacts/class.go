package errfacts

import "reflect"

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
// whether the operation may have taken effect although it failed.
func Classify(err error) (c Class, unrepeatable bool) {
	if IsPlain(err) { // the most common error: it needs no walk
		v := OfVariable(err)
		return v.class(), v.Unrepeatable
	}
	f := Facts{Err: err}
	f.read(err)
	c = f.class()
	return c, f.Unrepeatable && c != Unknown && c != Permanent
}

// class decides about the class.
func (f *Facts) class() Class {
	if f.isLocal() {
		return f.local()
	}
	switch {
	case f.Canceled || f.Verdict == No:
		return Permanent
	case f.Overtime && !f.IsResponse():
		return TimedOut
	case f.Reasons != Unknown:
		return f.Reasons
	case f.Code != "" && isExhausted(typeWord(f.Code)):
		return Permanent
	case f.Class == Throttled || IsThrottlingCode(f.Code) || OfStatus(f.Status) == Throttled:
		return Throttled
	case f.Verdict == Yes || f.Renewed:
		return Transient
	case f.Status == 409 && isConflictOfAWS(f.Code):
		return Transient
	case f.Status >= 400:
		return ofResponse(f.Status, f.Code)
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

// isLocal reports whether no server, library or caller has said anything, which is the most
// common case.
func (f *Facts) isLocal() bool {
	return f.Verdict == None && !f.Canceled && !f.Overtime && !f.IsResponse()
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
