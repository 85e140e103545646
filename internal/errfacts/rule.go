package errfacts

// A Rule is what decided about the class of an error.
type Rule uint8

// The rules.
const (
	NoRule Rule = iota // nothing is known about the error
	ByCancellation
	ByMethod
	ByAttemptTimeout
	ByReasons
	ByExhaustion
	ByThrottling
	ByResponse
	ByTimeout
	ByConnection
	ByRequest
	ByVariable
)

var ruleNames = [...]string{
	ByCancellation:   "a context.Canceled that is not of the call's own context",
	ByMethod:         "a method of the error, such as Retryable",
	ByAttemptTimeout: "the AttemptTimeout of the policy, which ended the attempt",
	ByReasons:        "the reasons of a canceled transaction",
	ByExhaustion:     "a code for a quota that waiting does not restore",
	ByThrottling:     "a status, code or type of throttling",
	ByResponse:       "the status or code of the response",
	ByTimeout:        "a timeout",
	ByConnection:     "a connection that was refused or lost, or a host that is unknown",
	ByRequest:        "a certificate, an address or a request that is invalid",
	ByVariable:       "the type or variable of the error",
}

// String returns what the rule reads, to stand behind "because of". That of NoRule is "".
func (r Rule) String() string { return ruleNames[r] }

// Rule returns the rule by which Verdict finds the class.
func (f *Facts) Rule() Rule {
	_, by := f.decideClass()
	return by
}

// Source returns the outermost error in the tree of err that has a code, or what rule reads,
// apart from the errors that it wraps. If there is none, it returns the last one, which says what
// failed. skip reports which errors do not count.
func Source(err error, rule Rule, skip func(error) bool) error {
	last := err
	for e := range All(err) {
		if skip(e) {
			continue
		}
		last = e
		f := Facts{Err: e}
		f.Learn(e)
		f.Canceled = f.now.canceled
		if f.Rule() == rule && rule != NoRule || CodesOf(e).String() != "" {
			return e
		}
	}
	return last
}
