package retry

import (
	"fmt"
	"strings"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// Explain says why a call under p was, or was not, retried after err, and what to write so that
// it is otherwise. The answer is a few lines of text for people, such as
//
//	error:   load the page: status 404
//	retried: no, permanent failure
//	class:   permanent, because of the status or code of the response
//	read in: *api.StatusError, with code 404
//	change:  Policy.Classifier = retry.Codes{Retry: []string{"404"}}
//	policy:  backoff=standard attempts=3
//
// err is what [Do] has returned, or the failure of an attempt, such as Attempt.Err in a hook. For
// a failure, the answer is what Do would decide after a first attempt whose context has no
// deadline. If err is or wraps an [*Error], the answer is about the call that returned it, so p
// has to be the policy of that call. A nil err gives "".
//
// Explain asks no Budget and no Limiter. It calls the Classifier, the Backoff and the HintRule of
// p. The answer has the [Text] of errors, in one line. Each release may change the answers.
func Explain(p Policy, err error) string {
	if err == nil {
		return ""
	}
	x := explanation{policy: p}
	x.readError(err)
	x.decideVerdict(&x.verdict, p.Classifier)
	if x.err == nil { // a loop inside the operation gave up
		x.err = x.judged
	}
	x.readSource()
	var b strings.Builder
	retried, change := x.outcome(err)
	fmt.Fprintf(&b, "error:   %s\n", oneLine(Text(err)))
	fmt.Fprintf(&b, "retried: %s\n", retried)
	if x.err != nil { // otherwise the operation of an inner call never ran
		fmt.Fprintf(&b, "class:   %s\n", x.class())
		fmt.Fprintf(&b, "read in: %s\n", x.source)
	}
	fmt.Fprintf(&b, "change:  %s\n", change)
	fmt.Fprintf(&b, "policy:  %v\n", p)
	return b.String()
}

// An explanation is what Explain knows about an error.
type explanation struct {
	policy  Policy
	reading         // what the error says
	verdict Verdict // what it means
	source  string  // the type of the error that says it, or its text if it is a variable
	code    string  // of that error, in the form that Codes reads; "": none
}

// readSource finds the error, among those that are wrapped, that decides.
func (x *explanation) readSource() {
	if x.err == nil {
		return
	}
	e := errfacts.Source(x.err, x.facts.Rule(), func(e error) bool {
		switch e.(type) {
		case *mark, *errfacts.Overtime: // which no program knows
			return true
		}
		return false
	})
	x.source = fmt.Sprintf("%T", e)
	if errfacts.IsPlain(e) {
		x.source = fmt.Sprintf("%q", e.Error())
	}
	x.code = errfacts.CodesOf(e).String()
	if x.code != "" {
		x.source += ", with code " + x.code
	}
}

// outcome says whether the call is retried, and how to change that.
func (x *explanation) outcome(err error) (retried, change string) {
	if e, ok := errfacts.As[*Error](err); ok && x.verdict.GaveUp {
		end := *e
		end.Err = nil
		return "no, " + end.Error(), x.remedy(e)
	}
	low, longest, reason := x.waits(err)
	if reason != nil {
		return "no, " + reason.Error(), x.remedy(&Error{Err: err, Reason: reason})
	}
	retried = fmt.Sprintf("yes, after %v", low.Round(time.Microsecond))
	if longest > low {
		retried += fmt.Sprintf(" to %v", longest.Round(time.Microsecond))
	}
	if x.verdict.Hint > 0 {
		retried += fmt.Sprintf("; the server asks for %v", x.verdict.Hint)
	}
	return retried, x.reverse("Stop", "Permanent")
}

// waits returns the shortest and the longest wait after a first attempt, or the reason why the
// call ends.
func (x *explanation) waits(err error) (low, longest time.Duration, reason error) {
	const most = 1 - 0x1p-53
	p, a := x.policy, Attempt{Number: 1, Err: err, Verdict: x.verdict}
	p.Rand = func() float64 { return 0 }
	low, reason = p.decide(&a, 0, noDeadline)
	p.Rand = func() float64 { return most }
	longest, _ = p.decide(&a, 0, noDeadline)
	if p.MaxElapsed > 0 { // a longer wait would end the call
		longest = min(longest, p.MaxElapsed)
	}
	return low, longest, reason
}

// class returns the class and what has decided about it.
func (x *explanation) class() string {
	text := x.verdict.Class.String()
	byDefault := x.byFacts().Class
	switch {
	case x.isInvalid():
		text += ", because the call or the policy is invalid"
	case x.marker() != "":
		text += ", because of the marker " + x.marker()
		if x.code != "" && x.marker() == "retry.Permanent" {
			text += ", which CheckStatus sets for what a retryhttp client does not retry"
		}
	case x.verdict.Class != byDefault && x.policy.Classifier != nil:
		text += fmt.Sprintf(", because of Policy.Classifier, a %T; retry.DefaultClassifier says %v", x.policy.Classifier, byDefault)
	case x.verdict.Class == ClassUnknown:
		text += ", because no rule knows the error; this counts as transient"
	default:
		text += ", because of " + x.facts.Rule().String()
	}
	if x.verdict.Unrepeatable {
		text += "; unrepeatable"
	}
	return text
}

// isInvalid reports whether a call was refused before it began.
func (x *explanation) isInvalid() bool {
	return x.verdict.Class == ClassPermanent && errfacts.Is(x.err, ErrInvalid)
}

// marker returns the name of the marker that decides about the class, or "".
func (x *explanation) marker() string {
	names := map[Class]string{ClassPermanent: "retry.Permanent", ClassTransient: "retry.Transient", ClassThrottled: "retry.Throttled"}
	switch {
	case x.judged != nil:
		return "retry.WithVerdict"
	case x.Class != ClassUnknown:
		return names[x.Class]
	case x.after:
		return "retry.After"
	}
	return ""
}

const unlessHarmful = "what the text of the error names; or, if a second execution does no harm, return retry.Transient(err) from the operation"

// remedy says what would have allowed another attempt.
func (x *explanation) remedy(e *Error) string {
	switch e.ReasonLabel() {
	case "attempts":
		return "raise Policy.MaxAttempts or, for work that nobody waits for, set Policy.MaxElapsed in its place"
	case "backoff":
		return "set a Policy.Backoff that returns no negative delay"
	case "elapsed":
		return "raise Policy.MaxElapsed, or shorten the waits"
	case "budget":
		return "nothing if somebody waits: Policy.Budget refuses because many calls fail. For a fixed number of workers, Policy.Budget = retry.NoBudget{} and a MaxElapsed"
	case "hint":
		return "raise Max of Policy.Hint"
	case "unrepeatable":
		return unlessHarmful
	case "deadline":
		return "give the call's context a later deadline, or shorten the waits"
	case "canceled":
		return "nothing: the call's context was canceled"
	case "permanent":
		return x.allow()
	}
	if errfacts.Is(e.Reason, ErrHint) { // a Limiter knows that the server would refuse
		return fmt.Sprintf("make the call again after %v", e.Next.Round(time.Millisecond))
	}
	return "the Limiter or the Clock of the policy, which failed"
}

// allow says how a failure that ends the call is retried.
func (x *explanation) allow() string {
	switch {
	case x.verdict.GaveUp:
		return "allow the loop inside the operation more attempts. retry.Transient(err) makes the outer loop repeat it, too, so the attempts multiply"
	case x.isInvalid():
		return "what the text of the error says is invalid: Policy.Validate checks a policy"
	case x.verdict.Unrepeatable: // Codes would not change that
		return unlessHarmful
	case x.facts.Rule() == errfacts.ByCancellation && x.marker() == "":
		return "return the failure because of which it was canceled, or retry.Transient(err), from the operation"
	}
	return x.reverse("Retry", "Transient")
}

// reverse returns the line that gives the error the opposite verdict: with a list of Codes, if
// the error has a code, or with a marker.
func (x *explanation) reverse(list, marker string) string {
	rest := ""
	if x.policy.Classifier != nil {
		rest = ", Else: policy.Classifier"
	}
	codes := fmt.Sprintf("Policy.Classifier = retry.Codes{%s: []string{%q}%s}", list, x.code, rest)
	mark := "return retry." + marker + "(err) from the operation"
	switch {
	case x.marker() != "" && x.code != "":
		return "in the policy of a retryhttp client: " + codes + ". Elsewhere: remove the marker, or " + mark
	case x.marker() != "":
		return "remove the marker, or " + mark
	case x.code != "":
		return codes
	case list == "Stop":
		return mark + " or, for a variable, Policy.Classifier = retry.PermanentIf(ErrX)"
	}
	return mark
}
