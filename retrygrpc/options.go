package retrygrpc

import (
	"slices"

	"google.golang.org/grpc"

	"github.com/gobackoff/retry"
)

// DialOptions returns options for grpc.NewClient that retry every call on the connection
// under the policy and turn off grpc-go's own retries. Interceptors in later options see
// every attempt; those in earlier options see the call once.
func DialOptions(p retry.Policy) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(unaryInterceptor(withClassifier(p))),
		grpc.WithChainStreamInterceptor(streamInterceptor(withClassifier(p))),
		grpc.WithDisableRetry(),
	}
}

// WithPolicy returns an option that overrides the connection's policy for one call. It
// has no effect without [DialOptions].
func WithPolicy(p retry.Policy) grpc.CallOption {
	p = withClassifier(p)
	return callPolicy{policy: &p}
}

type callPolicy struct {
	grpc.EmptyCallOption
	policy *retry.Policy
}

func withClassifier(p retry.Policy) retry.Policy {
	if p.Classifier == nil {
		p.Classifier = Classifier{}
	}
	return p
}

// policyOf returns the last policy among a call's options, or the connection's.
func policyOf(opts []grpc.CallOption, connection *retry.Policy) *retry.Policy {
	for _, o := range slices.Backward(opts) {
		if o, ok := o.(callPolicy); ok {
			return o.policy
		}
	}
	return connection
}
