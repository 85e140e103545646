package retrygrpc

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
)

// Classifier reads the status code of an error:
//
//   - RESOURCE_EXHAUSTED is throttling, unless a message was too large;
//   - DEADLINE_EXCEEDED is a timeout;
//   - UNAVAILABLE, ABORTED and INTERNAL are transient;
//   - of UNKNOWN, and of errors without a status, it has no opinion;
//   - all other codes are permanent.
//
// To change some of it, put a classifier in front of it with [retry.FirstOf].
type Classifier struct{}

// Classify returns the class of err.
func (Classifier) Classify(err error) retry.Class {
	s, ok := status.FromError(err)
	if !ok {
		return retry.ClassUnknown
	}
	switch s.Code() {
	case codes.ResourceExhausted:
		if isTooLarge(s.Message()) {
			return retry.ClassPermanent
		}
		return retry.ClassThrottled
	case codes.DeadlineExceeded:
		return retry.ClassTimeout
	case codes.Unavailable, codes.Aborted, codes.Internal:
		return retry.ClassTransient
	case codes.Unknown:
		return retry.ClassUnknown
	}
	return retry.ClassPermanent
}

// isTooLarge reports whether the message is that with which grpc-go refuses a message
// above its limit, on either side: the same one would be refused again.
func isTooLarge(message string) bool { return strings.Contains(message, "larger than max") }
