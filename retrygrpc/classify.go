package retrygrpc

import (
	"os"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// Classifier classifies errors by their gRPC status code:
//
//   - RESOURCE_EXHAUSTED is throttling, unless a message was too large;
//   - DEADLINE_EXCEEDED is a timeout, as is a CANCELLED caused by AttemptTimeout;
//   - UNAVAILABLE, ABORTED and INTERNAL are transient;
//   - UNKNOWN, codes that gRPC does not define, and errors without a status are classified as
//     [retry.ClassUnknown];
//   - all other codes are permanent.
//
// The class alone does not decide whether a call is retried: see the package comment. To change
// the class of some errors, use [retry.FirstOf].
type Classifier struct{}

// Classify implements [retry.Classifier].
func (Classifier) Classify(err error) retry.Verdict { return retry.Verdict{Class: classOf(err)} }

func classOf(err error) retry.Class {
	s, ok := status.FromError(adapt.Finite(err))
	if !ok {
		return retry.ClassUnknown
	}
	if s.Code() == codes.Canceled && os.IsTimeout(err) { // AttemptTimeout has canceled the call
		return retry.ClassTimeout
	}
	if s.Code() > codes.Unauthenticated { // its meaning is an application's own
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

// isTooLarge reports whether gRPC, on either side, refused a message because it exceeded a size limit.
func isTooLarge(message string) bool {
	for _, phrase := range [...]string{
		"larger than max", "grpc: message too large", // grpc-go, and gRPC for C++, Python and Node
		"message exceeds maximum size", "message exceeds the maximum configured message size", // Java, .NET
	} {
		if strings.Contains(message, phrase) {
			return true
		}
	}
	return false
}
