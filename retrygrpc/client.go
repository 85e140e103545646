package retrygrpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
)

// A Client retries the calls of a connection, and says which of them the server may
// execute more than once. The zero value is ready to use.
type Client struct {
	Policy retry.Policy

	// Repeatable lists methods ("package.Service/Method") and services ("package.Service") that
	// may be executed more than once, in addition to those that their idempotency_level allows.
	// A method may begin with a slash, as in the generated constants, such as
	// Health_Check_FullMethodName. "*" means all methods. If a name is malformed, or no
	// registered service has it, each call returns an error. The name is then misspelled, or
	// the generated code of the service is not linked into the program.
	Repeatable []string

	// AllowUnregistered allows names in Repeatable whose service is not registered. It is for
	// programs that call services without generated code, or with code that does not register
	// its descriptors in protoregistry.GlobalFiles. If the service is registered, but has no
	// such method, the name is still an error.
	AllowUnregistered bool

	// TrustPushback declares that a refusal with a wait proves that the server has not begun
	// the call. A refusal with a wait is an error with the trailer grpc-retry-pushback-ms and
	// without headers before it. An [Admission] keeps this promise; gRPC does not require it of
	// other servers.
	TrustPushback bool

	// MaxBuffer limits the encoded size of the messages that are kept for a retry of a
	// stream of requests. 0 means 256 KiB, as in grpc-go; below 0, none are kept.
	MaxBuffer int

	// Hedge sends a second copy of a unary call that takes too long, if its method may be
	// executed more than once and its messages are of type proto.Message. The copies are
	// part of one attempt; the first that succeeds is used, or that fails permanently if the
	// method has no side effects. Durations are compared by method. A pushback stops
	// hedging for as long as it says. Copies wait for the Policy's Limiter; the options
	// Header, Trailer and Peer receive what belongs to the copy that is used. nil means no
	// copies. See docs/hedging.md.
	Hedge *retryhedge.Hedge
}

// DialOptions returns options for grpc.NewClient that retry every call on the connection
// and turn off grpc-go's own retries. Interceptors in later options see every attempt;
// those in earlier options see the call once.
func (c Client) DialOptions() []grpc.DialOption {
	given := c.Policy
	c.Policy = forCalls(given)
	conn := &connection{Client: c, repeatable: map[string]bool{}}
	for _, name := range c.Repeatable {
		conn.repeatable[strings.TrimPrefix(name, "/")] = true
	}
	conn.fault = sync.OnceValue(func() error { return errors.Join(given.Validate(), c.checkRepeatable()) })
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(conn.unary),
		grpc.WithChainStreamInterceptor(conn.stream),
		grpc.WithDisableRetry(),
		grpc.WithPerRPCCredentials(conn),
		grpc.WithStatsHandler(conn),
	}
}

// DialOptions is Client.DialOptions for a Client with only a Policy.
func DialOptions(p retry.Policy) []grpc.DialOption { return Client{Policy: p}.DialOptions() }

// Effective returns the Policy with what its zero fields mean for the calls of a connection, for
// logs and for retryconfig.Text. A Classifier of nil stays nil: it means [Classifier], which has no
// text.
func (c Client) Effective() retry.Policy {
	p := c.Policy
	if p.Hint == nil {
		p.Hint = retry.HintAtLeast{}
	}
	if p.Budget == nil {
		p.Budget = retry.NoBudget{}
	}
	return p
}

type connection struct {
	Client
	repeatable map[string]bool // the names in Client.Repeatable
	fault      func() error    // of Client.Policy or Client.Repeatable
	strays     atomic.Int64    // HTTP/2 streams without an attempt
}

// checkRepeatable returns what is wrong with the names in Repeatable. The first call asks, not
// DialOptions: the options may be made before all generated code has registered itself.
func (c Client) checkRepeatable() error {
	var wrong []error
	for _, name := range c.Repeatable {
		err := c.checkName(name)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("retrygrpc: %w Client.Repeatable: %w", retry.ErrInvalid, err))
		}
	}
	return errors.Join(wrong...)
}

func (c Client) checkName(name string) error {
	names, err := methodNames([]string{name})
	if err != nil || name == "*" {
		return err
	}
	service, method := names[0].Service, names[0].Method
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	described, ok := found.(protoreflect.ServiceDescriptor)
	switch {
	case !ok && c.AllowUnregistered:
		return nil
	case !ok:
		return fmt.Errorf("no service %q is registered: see Client.AllowUnregistered", service)
	case method != "" && described.Methods().ByName(protoreflect.Name(method)) == nil:
		return fmt.Errorf("the service %s has no method %q", service, method)
	}
	return nil
}

// mayRepeat reports whether the server may execute a method, "/package.Service/Method",
// more than once.
func (c *connection) mayRepeat(method string) bool {
	name := strings.TrimPrefix(method, "/")
	service, _, _ := strings.Cut(name, "/")
	return c.repeatable["*"] || c.repeatable[service] || c.repeatable[name] || levelOf(name) != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}

// levelOf returns the idempotency_level of a method whose descriptor is registered.
// NO_SIDE_EFFECTS implies idempotent.
func levelOf(name string) descriptorpb.MethodOptions_IdempotencyLevel {
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.Replace(name, "/", ".", 1)))
	method, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
	}
	options, _ := method.Options().(*descriptorpb.MethodOptions) // nil has no level
	return options.GetIdempotencyLevel()
}

// WithPolicy returns an option that overrides the connection's policy for one call. On a
// connection without [DialOptions], the call fails before anything is sent.
func WithPolicy(p retry.Policy) grpc.CallOption {
	p = forCalls(p)
	return callPolicy{grpc.PerRPCCredentials(noDialOptions{}), &p}
}

// A callPolicy is taken out of the options by split. If it reaches grpc-go, nothing retries the
// call, and the credentials in it end the call with an error that says so.
type callPolicy struct {
	grpc.CallOption
	policy *retry.Policy
}

type noDialOptions struct{}

func (noDialOptions) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return nil, status.Error(codes.Internal, "retrygrpc: WithPolicy needs a connection with retrygrpc.DialOptions")
}

func (noDialOptions) RequireTransportSecurity() bool { return false }

// forCalls returns p with what gRPC knows of errors and of waits.
func forCalls(p retry.Policy) retry.Policy {
	if !ignoresHints(p.Hint) {
		p.Backoff = pushed{retry.Capped{Of: p.Backoff}}
	}
	return withClassifier(p)
}

// ignoresHints reports whether a rule does not wait for what a server asks.
func ignoresHints(rule retry.HintRule) bool {
	if rule == nil {
		return false
	}
	wait, ok := rule.Wait(0, time.Second)
	return ok && wait == 0
}

func withClassifier(p retry.Policy) retry.Policy {
	if p.Classifier == nil {
		p.Classifier = Classifier{}
		return p
	}
	codes, ok := codesOf(p.Classifier)
	if ok && codes.Else == nil {
		codes.Else = Classifier{}
		p.Classifier = codes
	}
	return p
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

// forMethod returns p for calls of a method. A shared budget has a Part for each.
func forMethod(p retry.Policy, method string) retry.Policy {
	if shared, ok := p.Budget.(*retry.SharedBudget); ok && shared != nil {
		p.Budget = shared.Part(method)
	}
	return p
}

// split returns what the options of a call say about the call itself: its policy, which is
// the last one or the connection's, and the functions of grpc.OnFinish, which grpc-go would
// call for every attempt. The rest is for the attempts.
func (c *connection) split(opts []grpc.CallOption) (p *retry.Policy, finish func(error), rest []grpc.CallOption) {
	p, finish, rest = &c.Policy, func(error) {}, make([]grpc.CallOption, 0, len(opts)+2)
	for _, o := range opts {
		switch o := o.(type) {
		case callPolicy:
			p = o.policy
		case grpc.OnFinishCallOption:
			earlier := finish
			finish = func(err error) { earlier(err); o.OnFinish(err) }
		default:
			rest = append(rest, o)
		}
	}
	return p, finish, rest
}
