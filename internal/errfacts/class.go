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
	f := Read(err)
	return f.Verdict()
}

// Verdict returns the class, and whether the operation may have taken effect although it failed.
func (f *Facts) Verdict() (c Class, unrepeatable bool) {
	c, _ = f.decideClass()
	return c, f.Unrepeatable && c != Unknown && c != Permanent
}

// decideClass decides about the class. It also returns the rule that has decided.
func (f *Facts) decideClass() (Class, Rule) {
	if f.isLocal() {
		return f.local()
	}
	switch {
	case f.Canceled:
		return Permanent, ByCancellation
	case f.Said == No:
		return Permanent, ByMethod
	case f.Overtime && !f.IsResponse():
		return TimedOut, ByAttemptTimeout
	case f.Reasons != Unknown:
		return f.Reasons, ByReasons
	case f.Code != "" && isExhausted(typeWord(f.Code)):
		return Permanent, ByExhaustion
	case f.Class == Throttled || IsThrottlingCode(f.Code) || OfStatus(f.Status) == Throttled:
		return Throttled, ByThrottling
	case f.Said == Yes || f.Renewed:
		return Transient, ByMethod
	case f.Status == 409 && isConflictOfAWS(f.Code):
		return Transient, ByResponse
	case f.Status >= 400:
		return ofResponse(f.Status, f.Code), ByResponse
	case f.Redis != "":
		return ofRedis(f.Redis), ByResponse
	case f.Class != Unknown:
		return f.Class, ByResponse
	case f.Code != "":
		if c := ofWord(typeWord(f.Code)); c != Unknown && c != Canceled {
			return c, ByResponse
		}
	}
	return f.local()
}

// isLocal reports whether no server, library or caller has said anything, which is the most
// common case.
func (f *Facts) isLocal() bool {
	return f.Said == None && !f.Canceled && !f.Overtime && !f.IsResponse()
}

// local returns the class of an error that is not a server's response.
func (f *Facts) local() (Class, Rule) {
	switch f.Kind {
	case Timeout:
		return TimedOut, ByTimeout
	case TLS, Invalid:
		return Permanent, ByRequest
	case Connection, Closed, Truncated, NotFound:
		return Transient, ByConnection
	}
	if f.Fallback == Unknown {
		return Unknown, NoRule
	}
	return f.Fallback, ByVariable
}
