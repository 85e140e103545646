package retryaws

import (
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

func classifierOf(p retry.Policy) retry.Classifier {
	if p.Classifier == nil {
		return SDKRules{}
	}
	codes, ok := codesOf(p.Classifier)
	if ok {
		codes.Else = classifierOf(retry.Policy{Classifier: codes.Else})
		return codes
	}
	return retry.FirstOf(p.Classifier, SDKRules{})
}

// codesOf returns the lists of codes that c is or points to.
func codesOf(c retry.Classifier) (codes retry.Codes, ok bool) {
	pointer, ok := c.(*retry.Codes)
	if ok && pointer != nil {
		return *pointer, true
	}
	codes, ok = c.(retry.Codes)
	return codes, ok
}

// SDKRules is a Classifier with the rules of the SDK that the program is built with: it retries
// what the SDK's standard retryer retries. Every other error is permanent, including a request
// that could not be signed and a successful response that could not be parsed.
//
// [New] and [WithPolicy] consult SDKRules about errors that the policy's Classifier does not know.
//
// A policy can wait as the SDK of a preset does, and retry the errors that the SDK of this program
// retries. For that, put SDKRules in front of the Classifier of the preset, which then only says
// which headers are read:
//
//	p.Classifier = retry.FirstOf(retryaws.SDKRules{}, p.Classifier)
type SDKRules struct{}

// Classify implements [retry.Classifier].
func (SDKRules) Classify(err error) retry.Verdict { return retry.Verdict{Class: sdkClass(err)} }

func sdkClass(err error) (class retry.Class) {
	err = adapt.Finite(err) // the SDK calls errors.As
	defer func() {
		if recover() != nil { // methods of a half-built error may panic
			class = retry.ClassUnknown
		}
	}()
	switch {
	case !sdkretry.IsErrorRetryables(sdkretry.DefaultRetryables).IsErrorRetryable(err).Bool():
		return retry.ClassPermanent
	case sdkretry.IsErrorThrottles(sdkretry.DefaultThrottles).IsErrorThrottle(err).Bool():
		return retry.ClassThrottled
	case sdkretry.IsErrorTimeouts(sdkretry.DefaultTimeouts).IsErrorTimeout(err).Bool():
		return retry.ClassTimeout
	}
	return retry.ClassTransient
}
