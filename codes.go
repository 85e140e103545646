package retry

import (
	"fmt"
	"slices"

	"github.com/gobackoff/retry/internal/errfacts"
)

// Codes is a [Classifier] with lists of codes that are retried, and that are not, besides what
// another Classifier decides. retryconfig makes one of retry-on=450,5xx and stop-on=429.
//
// A code is one of these:
//
//   - an HTTP status, such as "450", a range such as "502-504", or all of a hundred, such as "5xx"
//   - the name of a status code of gRPC, such as "UNAVAILABLE". The case does not matter, and "_"
//     may be omitted
//   - a SQLSTATE, such as "40001"
//
// Codes reads an error as [DefaultClassifier] does. If an error wraps others, the outermost whose
// code is listed counts.
//
// The lists change the class of an error, not whether its operation may run twice: an HTTP POST
// whose response has a listed status is still sent only once unless it may be repeated. Markers
// such as [Permanent] precede every Classifier.
type Codes struct {
	Retry []string // transient, if they are permanent or unknown to Else
	Stop  []string // permanent, also if Retry lists them

	// Else classifies all other errors. nil means the Classifier that would be used if the
	// Policy had none: DefaultClassifier, or that of package retrygrpc or retryaws.
	Else Classifier
}

// Classify implements [Classifier].
func (c Codes) Classify(err error) Verdict {
	r := readFacts(err)
	v := r.classify(c.Else)
	for e := range errfacts.All(err) {
		said := errfacts.CodesOf(e)
		switch {
		case slices.ContainsFunc(c.Stop, said.Are):
			v.Class = ClassPermanent
			return v
		case slices.ContainsFunc(c.Retry, said.Are):
			if v.Class == ClassUnknown || v.Class == ClassPermanent {
				v.Class = ClassTransient
			}
			return v
		}
	}
	return v
}

// Unwrap returns the Classifiers that c consults, which is Else. Packages look through it for a
// Classifier of a type that they know: package retryaws reads the headers that the SDK of a
// preset reads if it finds the preset's Classifier. A Classifier of your own that consults
// others should have such a method, too.
func (c Codes) Unwrap() []Classifier { return []Classifier{c.Else} }

// Validate reports what is not a code, and codes that are in both lists.
func (c Codes) Validate() error {
	faults := partFaults("Codes: Else", c.Else)
	for _, code := range slices.Concat(c.Retry, c.Stop) {
		if _, ok := errfacts.NormalCode(code); !ok {
			faults = append(faults, fmt.Sprintf("Codes: %q is not an HTTP status from 400 to 599, a code of gRPC or a SQLSTATE", code))
		}
	}
	for _, code := range c.Retry {
		if slices.Contains(c.Stop, code) {
			faults = append(faults, fmt.Sprintf("Codes: %s is to be retried and not to be retried", code))
		}
	}
	return invalid("classifier", faults)
}
