package errfacts

// Class is what an error means for retrying, with the values of retry.Class.
type Class uint8

const (
	Unknown Class = iota
	Permanent
	Transient
	TimedOut
	Throttled
)

// canceled is not a class of package retry. It means that the caller canceled the
// operation, so the server's response does not count.
const canceled Class = 255

// Classify returns the class of err according to retry.DefaultClassifier's rules, and
// whether the operation may have taken effect although it failed.
func Classify(err error) (c Class, unrepeatable bool) {
	f := Facts{Err: err}
	f.read(err)
	if !f.Methods && !f.Canceled && f.Class == Unknown {
		c = f.local()
		return c, f.Unrepeatable && c != Permanent
	}
	c = f.class()
	return c, f.Unrepeatable && c != Unknown && c != Permanent
}

func (f *Facts) class() Class {
	switch {
	case f.Overtime && !f.IsResponse():
		return TimedOut
	case f.Canceled || f.Verdict == No:
		return Permanent
	case f.Status == 429 || f.Class == Throttled || IsThrottlingCode(f.Code):
		return Throttled
	case f.Verdict == Yes:
		return Transient
	case f.Code == "RequestTimeout" || f.Code == "RequestTimeoutException":
		return TimedOut
	case f.Status >= 400:
		return ofStatus(int64(f.Status))
	case f.Redis != "":
		return ofRedis(f.Redis)
	case f.Class != Unknown:
		return f.Class
	}
	return f.local()
}

// local returns the class of an error that is not a server's response.
func (f *Facts) local() Class {
	switch f.Kind {
	case Timeout:
		return TimedOut
	case TLS:
		return Permanent
	case Connection, Closed, Truncated, NotFound:
		return Transient
	}
	return f.Fallback
}

func ofStatus(status int64) Class {
	switch {
	case status < 400 || status > 599:
		return Unknown
	case status == 408:
		return TimedOut
	case status == 429:
		return Throttled
	case status == 425, status >= 500 && status != 501 && status != 505:
		return Transient
	}
	return Permanent
}

// ofRPC returns the class of a status code of gRPC or Connect. ABORTED is a conflict;
// UNKNOWN has no class.
func ofRPC(code int64) Class {
	switch code {
	case 1: // CANCELLED
		return canceled
	case 3, 5, 6, 7, 9, 11, 12, 15, 16:
		return Permanent
	case 4: // DEADLINE_EXCEEDED
		return TimedOut
	case 8: // RESOURCE_EXHAUSTED
		return Throttled
	case 10, 13, 14: // ABORTED, INTERNAL, UNAVAILABLE
		return Transient
	}
	return Unknown
}
