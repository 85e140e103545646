package retrygrpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	rpccode "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
)

// ServiceConfig converts a policy to the JSON of a gRPC service config, for clients in other
// languages, or for grpc.WithDefaultServiceConfig instead of [DialOptions]. A method is
// "package.Service/Method", "package.Service" for all its methods, or "*" for those of all
// services. gRPC repeats these methods after UNAVAILABLE even if the server has executed them, so
// name only those that may be executed twice.
//
// gRPC has fewer features than a policy; the result lost contains one sentence per
// difference. The mean delays are as close to the policy's as possible, and the codes are
// those that the policy's Classifier retries. If the policy or a method is invalid, or there is no
// method, ServiceConfig returns an error: that of [retry.Policy.Validate], or one about the
// methods, or both.
func ServiceConfig(p retry.Policy, methods ...string) (config string, lost []string, err error) {
	p = withClassifier(p)
	names, err := methodNames(methods)
	if err := errors.Join(p.Validate(), err); err != nil {
		return "", nil, err
	}
	method := methodConfig{Name: names}
	c := serviceConfig{MethodConfig: []*methodConfig{&method}}
	attempts := p.Attempts()
	if attempts > 1 {
		var r retryPolicy
		r, lost = retryPolicyOf(p, attempts)
		if len(r.RetryableStatusCodes) > 0 { // grpc-go rejects an empty list
			method.RetryPolicy = &r
		}
	}
	switch b := p.Budget.(type) {
	case nil:
	case *ThrottleBudget:
		t := throttling{MaxTokens: cmp.Or(b.MaxTokens, 10), TokenRatio: cmp.Or(b.TokenRatio, 0.1)}
		if t.MaxTokens > 1000 {
			t.MaxTokens = 1000
			lost = append(lost, fmt.Sprintf("Budget: gRPC has at most 1000 tokens, not %v", b.MaxTokens))
		}
		c.RetryThrottling = &t
	default:
		lost = append(lost, fmt.Sprintf("Budget: gRPC has only the rule of a ThrottleBudget, not that of a %T", b))
	}
	lost = append(lost, lostParts(p)...)
	text, err := json.Marshal(c)
	return string(text), lost, err
}

type serviceConfig struct {
	MethodConfig    []*methodConfig `json:"methodConfig"`
	RetryThrottling *throttling     `json:"retryThrottling,omitempty"`
}

type methodConfig struct {
	Name        []methodName `json:"name"`
	RetryPolicy *retryPolicy `json:"retryPolicy,omitempty"`
}

type methodName struct {
	Service string `json:"service,omitempty"`
	Method  string `json:"method,omitempty"`
}

type retryPolicy struct {
	MaxAttempts          int      `json:"maxAttempts"`
	InitialBackoff       string   `json:"initialBackoff"`
	MaxBackoff           string   `json:"maxBackoff"`
	BackoffMultiplier    float64  `json:"backoffMultiplier"`
	RetryableStatusCodes []string `json:"retryableStatusCodes"`
}

type throttling struct {
	MaxTokens  float64 `json:"maxTokens"`
	TokenRatio float64 `json:"tokenRatio"`
}

func methodNames(methods []string) ([]methodName, error) {
	if len(methods) == 0 {
		return nil, errors.New(`retrygrpc: ServiceConfig needs the methods that may be executed twice, or "*" for all`)
	}
	var names []methodName
	for _, m := range methods {
		if m == "*" {
			names = append(names, methodName{})
			continue
		}
		service, method, both := strings.Cut(strings.TrimPrefix(m, "/"), "/")
		if service == "" || both && method == "" || strings.Contains(method, "/") {
			return nil, fmt.Errorf("method %q is neither package.Service nor package.Service/Method", m)
		}
		names = append(names, methodName{service, method})
	}
	return names, nil
}

// mostAttempts is grpc-go's maximum without grpc.WithMaxCallAttempts, whatever the
// service config says.
const mostAttempts = 5

func retryPolicyOf(p retry.Policy, attempts int) (r retryPolicy, lost []string) {
	if attempts > mostAttempts {
		what := strconv.Itoa(attempts)
		if attempts == retry.Unlimited {
			what = "unlimited"
		}
		lost = append(lost, fmt.Sprintf("MaxAttempts: gRPC makes at most %d attempts, not %s", mostAttempts, what))
		attempts = mostAttempts
	}
	mean := delays(p, attempts, 0.5)
	if len(mean) == 0 {
		return r, lost
	}
	attempts = len(mean) + 1 // the rule may end before
	first, most := mean[0], slices.Max(mean)
	factor := 1.0
	if len(mean) > 1 && first > 0 {
		factor = max(1, float64(mean[1])/float64(first))
	}
	r = retryPolicy{
		MaxAttempts:       attempts,
		InitialBackoff:    seconds(first),
		MaxBackoff:        seconds(most),
		BackoffMultiplier: factor,
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		if p.Classify(status.Error(code, code.String())).Class != retry.ClassPermanent {
			r.RetryableStatusCodes = append(r.RetryableStatusCodes, rpccode.Code(code).String())
		}
	}
	return r, append(lost, lostDelays(p, mean, factor)...)
}

// delays returns the waits of a call whose random numbers are all u. With 0.5, they are the
// means of rules whose delays are uniformly distributed.
func delays(p retry.Policy, attempts int, u float64) []time.Duration {
	return slices.Collect(retry.Policy{Backoff: p.Backoff, MaxAttempts: attempts, Rand: func() float64 { return u }}.Delays())
}

// lostDelays compares the delays with those of gRPC: the mean of retry n is
// min(initial · factorⁿ, max), and each delay is within 20 % of its mean.
func lostDelays(p retry.Policy, means []time.Duration, factor float64) (lost []string) {
	differs := func(d time.Duration, from float64) bool { return math.Abs(float64(d)-from) > 0.05*from }
	least, most := delays(p, len(means)+1, 0), delays(p, len(means)+1, 1-1e-9)
	first, jitter := means[0], false
	for i, d := range means {
		mean := min(float64(first)*math.Pow(factor, float64(i)), float64(slices.Max(means)))
		if differs(d, mean) {
			lost = append(lost, fmt.Sprintf("Backoff: retry %d waits for %v on average, not %v",
				i+1, time.Duration(mean).Round(time.Millisecond), d.Round(time.Millisecond)))
		}
		jitter = jitter || differs(least[i], 0.8*mean) || differs(most[i], 1.2*mean)
	}
	if jitter {
		lost = append(lost, "Backoff: gRPC draws each delay from within 20 % of its mean, unlike this policy")
	}
	if first == 0 {
		lost = append(lost, "Backoff: gRPC has no retry without a delay")
	}
	p.Rand, p.Budget, p.Classifier, p.MaxElapsed, p.MaxAttempts = func() float64 { return 0.5 }, nil, nil, 0, retry.Unlimited
	failed := errors.New("failed")
	p.Limiter, p.Hooks = nil, retry.Hooks{}
	ordinary, _ := p.Start().Failed(context.Background(), retry.Transient(failed))
	throttled, _ := p.Start().Failed(context.Background(), retry.Throttled(failed))
	if ordinary != throttled {
		lost = append(lost, "Backoff: gRPC has no separate delays after throttling")
	}
	return lost
}

func lostParts(p retry.Policy) (lost []string) {
	for _, part := range []struct {
		isSet bool
		text  string
	}{
		{p.MaxElapsed != 0, "MaxElapsed: gRPC has only the deadline of the call"},
		{p.AttemptTimeout != 0, "AttemptTimeout: gRPC has only the deadline of the call"},
		{p.Limiter != nil, "Limiter: gRPC has none"},
		{!ignoresHints(p.Hint), "Hint: gRPC waits for exactly the server's pushback, and grpc-go ignores RetryInfo"},
		{p.OnAttempt != nil || p.OnRetry != nil || p.OnGiveUp != nil, "Hooks: gRPC has none"},
	} {
		if part.isSet {
			lost = append(lost, part.text)
		}
	}
	return lost
}

// seconds formats a duration as protobuf does. The result is above 0, as gRPC requires.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(d, 1).Seconds(), 'f', -1, 64) + "s"
}
