package retryaws

import (
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/gobackoff/retry"
)

func classifierOf(p retry.Policy) retry.Classifier {
	if p.Classifier == nil {
		return sdkClassifier{}
	}
	codes, ok := p.Classifier.(retry.Codes)
	if ok {
		codes.Else = classifierOf(retry.Policy{Classifier: codes.Else})
		return codes
	}
	return retry.FirstOf(p.Classifier, sdkClassifier{})
}

// sdkClassifier retries what the SDK's standard retryer retries. Everything else is
// permanent, including requests that could not be signed and successful responses that
// could not be parsed.
type sdkClassifier struct{}

func (sdkClassifier) Classify(err error) retry.Verdict { return retry.Verdict{Class: sdkClass(err)} }

func sdkClass(err error) (class retry.Class) {
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
