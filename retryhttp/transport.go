package retryhttp

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp/internal/wire"
)

// A Transport is an [http.RoundTripper] that retries failed requests according to its
// Policy if they are safe to repeat; the package comment describes the rules. The zero
// Transport sends through [http.DefaultTransport] with the zero [retry.Policy] and
// makes up to three attempts.
//
// A Transport is safe for concurrent use and should be shared by all clients. It must
// not be copied, and its fields must not be changed, once it is in use.
type Transport struct {
	// Base makes the attempts. If you wrap an http.Transport, as otelhttp.NewTransport does, set
	// Wrap instead: through a Base of another type than http.Transport, a POST without a body fails
	// with retry.ErrUnrepeatable if an HTTP/2 server refuses it with a GOAWAY, other requests may be
	// sent again up to eight times in a call, and an attempt costs a few more allocations.
	//
	// nil means http.DefaultTransport. If that is an http.Transport, all Transports without a Base
	// share a copy of it, made at the first request, that looks after its HTTP/2 connections: after
	// ten seconds without a sign of life, it sends a ping, and five seconds later it gives the
	// connection up. For an http.Transport of your own, set [http.Transport.HTTP2]. With any
	// http.Transport, the attempt that follows a limit of time of the Transport has a new connection,
	// and so have the calls after it. Response bodies should allow Close during a Read, as those of
	// net/http do.
	//
	// If Base is an http.Transport, a request without a body that net/http must not resend,
	// such as a POST over HTTP/2, is sent over a connection that the Transport opens with
	// NewClientConn, so an httptrace sees neither GetConn nor GotConn. These connections end
	// after IdleConnTimeout. MaxConnsPerHost applies to them separately, MaxIdleConns does not
	// count them, and CloseIdleConnections of Base does not close them.
	Base http.RoundTripper

	// Wrap returns a RoundTripper around base, such as a tracer or an oauth2.Transport, through
	// which each attempt is sent. It is called once, before the first request. Use Sign for what
	// signs requests: a wrapper gets them without GetBody, because net/http would use it to send a
	// POST again. nil means no wrapper. If Wrap returns nil, each request fails with an error that
	// matches [retry.ErrInvalid].
	//
	// base sends through Base. Because base is below the wrapper, the Transport learns from it how
	// each request ended. So a wrapped http.Transport works as the comment on Base says of an
	// http.Transport. A wrapper has to keep two rules:
	//
	//   - It sends requests only through base. If it returns an error and has passed nothing on to
	//     base, the Transport takes the request for one that was not sent.
	//   - It derives the context of a request that it passes to base from the context of the request
	//     that it was given. Otherwise, the Transport does not know how the request ended.
	Wrap func(base http.RoundTripper) http.RoundTripper

	// Policy decides when to retry. Its Classifier and hooks receive a response with a
	// status of 400 or above as a *StatusError, whose body they cannot read; InfoOf and
	// InfoFrom describe its request. WithPolicy and WithoutRetry override the Policy for a
	// request.
	//
	// AttemptTimeout limits an attempt until the response's body is closed, but not a
	// connection that has switched protocols. The callback that Hooks.OnAttempt returns runs
	// when the headers have arrived, so it must not cancel a context that is still
	// needed to read the body.
	//
	// If Hint is nil, waits of up to a minute requested by Retry-After and similar
	// headers are honored, and lengthened by up to a tenth so that clients do not retry
	// together. For a longer wait, the response is returned immediately.
	Policy retry.Policy

	// MayRepeat reports whether a request may be executed more than once. It must be safe for
	// concurrent use. If nil, IsIdempotent is used. MayRepeat cannot prevent one kind of
	// repetition. If Base is not an http.Transport, or the host's name is not ASCII, net/http
	// itself resends a request when a reused HTTP/1.1 connection breaks. It does so if the
	// request has no body, and either is a GET, HEAD, OPTIONS or TRACE or has a key.
	MayRepeat func(*http.Request) bool

	// IdempotencyKey returns the Idempotency-Key of a request, or "" for none. It is called
	// once per call, if the request is not idempotent and carries no key. All attempts,
	// resends and hedged copies have the same key, and may be repeated, whatever MayRepeat
	// reports; the caller's request is not changed. [RandomKey] makes keys, and
	// [KeyForHosts] restricts a function to hosts. It must be safe for concurrent use.
	//
	// Set it only for servers that keep keys, as those of retrysql.Once do: one that ignores
	// the key executes a request again. A 409 with Retry-After means that the server is still
	// at work, and is retried. A key must have at most 255 bytes, all of them printable ASCII
	// and no spaces. With any other key, the request fails with an error that matches
	// [retry.ErrInvalid].
	IdempotencyKey func(*http.Request) string

	// Unprocessed lists statuses, besides 421, 425, 429 and its equivalents, that this
	// server sends only if it has not processed the request, so that any request may be
	// retried if the Classifier finds the status retryable. 503 is not among them: proxies
	// also send it when a server disappears in the middle of a request.
	Unprocessed []int

	// TrustRefusedStream means that a stream reset with REFUSED_STREAM (HTTP/2) or
	// H3_REQUEST_REJECTED (HTTP/3) proves that the request was not processed. Set it only
	// for servers that keep this promise of the RFCs: HAProxy also sends REFUSED_STREAM
	// after a server executed the request.
	TrustRefusedStream bool

	// DistrustGoAway means that a GOAWAY with a last stream below that of a request
	// (HTTP/2) does not prove that the request was not processed. Set it for servers that
	// break this promise: node executes requests above the last stream that its
	// session.goaway announced.
	DistrustGoAway bool

	// Check is called for each response and returns an error if the response is a
	// failure, whatever its status: for example a GraphQL error with status 200, or a
	// 403 whose body means throttling. The error is classified like one that an
	// operation returns, so mark it with retry.Permanent, retry.Transient or
	// retry.Throttled. Throttled means, like status 429, that the request was not
	// processed. If no retry follows, the response is returned, not the error, which
	// CheckStatus returns. If Check is nil or returns nil, the status decides, unless the body of a
	// 403 or a 429 says that GitHub's secondary limit is exceeded: that is throttling, with a wait of
	// a minute.
	//
	// peek waits for the first n bytes of the body, or all if there are fewer, and
	// returns them; they remain in the body. If reading the body fails, peek returns
	// the error. If Check does not call peek, it does not wait for the body, which may
	// be an endless stream. Check must not change the response or the bytes, and must be
	// safe for concurrent use.
	Check func(resp *http.Response, peek func(n int) ([]byte, error)) error

	// MaxBuffer allows retries of a request that has a body but no GetBody, by keeping
	// up to this many bytes of the body in memory. A longer body is sent once. 0 or less
	// means that no body is kept.
	MaxBuffer int64

	// MaxRead makes the body of a response part of the attempt, if it has at most this many
	// bytes. A response that breaks off after its headers is then retried. RoundTrip returns
	// when the body has arrived; if the last attempt breaks off, too, it returns an error. The
	// bytes are those that the caller will read, after net/http has removed gzip. 0 or less
	// means that the body is not part of the attempt.
	//
	// A longer body is passed on, and none of its bytes is lost. The Transport does not wait
	// for the bodies of these responses:
	//
	//   - the response to a request that must not be repeated, unless the Policy allows one
	//     attempt: then nothing is repeated, and a client above that retries learns of the failure
	//   - a response with a status of 400 or above
	//   - a stream of the type text/event-stream, application/x-ndjson,
	//     multipart/x-mixed-replace or application/vnd.amazon.eventstream
	//
	// Another body without a Content-Length is passed on after a second, because it may be a
	// stream. Each response in progress needs up to MaxRead bytes of memory.
	MaxRead int64

	// FirstByteTimeout limits the silence before a response: the time for which a request that
	// is being written, or has been written, waits for the headers of the response. The time
	// begins anew with each part of the request's body that Base reads, so it need not be longer
	// than an upload. The time in which the request waits for a connection, or for the next
	// bytes of its own body, does not count. If a connection is opened for the request, each step
	// of that, such as the TLS handshake, has the same limit. If Base does not report these events
	// to an httptrace, the time begins when Base gets the request. An interim response, such as
	// 103 Early Hints, is not the response that is waited for.
	//
	// The attempt then fails, and is retried over another connection if the request may be
	// repeated. Each hedged copy has a time of its own. 0 means no limit.
	FirstByteTimeout time.Duration

	// StallTimeout limits the silence within a body, so it ends an upload or a download that
	// stalls, but not one that is long. For the body of a request, it is the time between two
	// Reads by Base; after the last one, FirstByteTimeout counts. The attempt then fails, and is
	// retried if the request may be repeated. For the body of a response, it is the time for which a
	// Read waits for the next byte. The Read returns an error with a Timeout method that returns
	// true. Within MaxRead and Read, the request is retried. A connection that has switched
	// protocols has no such limit. 0 means no limit.
	StallTimeout time.Duration

	// Sign adds to each request that is sent what it needs besides itself, such as a token, a
	// signature or the ID of a session. It is called for each attempt, resend and hedged copy, and
	// must be safe for concurrent use. The methods Sign of a [Lease] and a [Pool] are for this field.
	//
	// Sign may change the Header, the URL and the Host of req, which belong to the request that is
	// sent. If it changes the host of the URL and not Host, Host follows. [AttemptNumber] finds the
	// number of the attempt in the context of req, whose deadline is that of the attempt. Body is
	// nil. GetBody is never nil: it returns a copy of the body, which Sign should close, or an error
	// if the body can be sent only once.
	//
	// If Sign returns an error, nothing was sent. The attempt has failed, and is retried whatever the
	// method, unless the error is permanent.
	//
	// refused is asked about the response, unless it is nil. If it returns true, Sign is called again,
	// and the request is sent again within the attempt, whatever its method, without a wait or a token
	// of the Budget. That happens at most eight times in a call. If the body can be sent only once,
	// the response is returned instead.
	//
	// A request that follows a redirect to another host or port, or from https to http, is not signed,
	// and no request after it is.
	Sign func(req *http.Request) (refused Refused, err error)

	// PerHost replaces the Policy's Budget with a separate Budget for each host. If both are
	// nil, the Transport uses a PerHost of its own, with a [retry.SharedBudget] for each host.
	// If the Budget is a SharedBudget, from a PerHost or from the Policy, each route of a host
	// uses its own Part of the SharedBudget. A route is a method and a path without the
	// segments that contain a digit.
	//
	// For work that a fixed number of workers do, set the Policy's Budget to [retry.NoBudget] and
	// limit the calls by MaxElapsed.
	PerHost *PerHost

	// PerScope adds a Limiter for each scope of requests, such as a route. Calls wait for it
	// before they wait for the Policy's Limiter.
	//
	// If PerScope and the Policy's Limiter are nil, the Transport makes a [ratelimit.Limiter]
	// for each host and credential once a response refuses a request because of a limit, or
	// tells a limit. From then on, calls may wait. If nothing is left for longer than a call can
	// wait, it ends with a [*ratelimit.UsedUpError]. A call waits only for limits that its own
	// route was told of. A route is a method and a path without the segments that contain a digit.
	// A credential is what is in Authorization, in headers such as X-Api-Key, and in a key in the
	// query. [Unlimited]() switches these Limiters off.
	PerScope *PerScope

	// Hedge sends a second copy of a request whose response takes too long, if the request
	// may be executed twice and has no body or a GetBody, which each copy calls. The copies
	// are part of one attempt and share its time limit; the first good response is used. nil
	// means no copies. docs/hedging.md says when they help.
	//
	// Durations are compared by host, so requests of different kinds should have Transports
	// of their own. Copies wait for the Policy's Limiter. The Hedge has a budget of its own
	// for each host, unless its Budget is set.
	Hedge *retryhedge.Hedge

	// OnOuterRetry is called once for each kind of client above the Transport that is
	// found to retry by itself: "AWS SDK", "Stainless SDK" (OpenAI, Anthropic and others)
	// or "Google Cloud Storage". The Transport makes one attempt for each of the client's,
	// so that attempts do not multiply. docs/http.md says which of the two should retry.
	OnOuterRetry func(client string, req *http.Request)

	checked sync.Once
	invalid error // what Validate reports

	wrapping sync.Once
	wrapped  http.RoundTripper // what Wrap returned
	lower    wire.Lower        // what Wrap was given

	hosts PerHost  // what is known about each host, and its Budget if there is no other
	outer sync.Map // kinds of clients passed to OnOuterRetry
	loops loops    // clients that retry
	lanes lanes    // the Limiters if there are no others
}

// NewClient returns a client that sends through a [Transport] with policy p. Make it once
// and share it, because the budgets of the hosts belong to it.
//
// See [Transport].Base for what happens to connections that die.
func NewClient(p retry.Policy) *http.Client {
	return &http.Client{Transport: &Transport{Policy: p}}
}

// standard is the Base of all Transports that have none.
var standard atomic.Pointer[copied]

// copied is an http.Transport and its copy that finds dead HTTP/2 connections.
type copied struct{ from, to *http.Transport }

func standardBase() http.RoundTripper {
	from, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	c := standard.Load()
	if c != nil && c.from == from {
		return c.to
	}
	made := &copied{from, pinging(from)}
	if standard.CompareAndSwap(c, made) {
		return made.to
	}
	return standardBase()
}

// pinging returns a copy of t that finds dead HTTP/2 connections.
func pinging(t *http.Transport) *http.Transport {
	t = t.Clone()
	var config http.HTTP2Config
	if t.HTTP2 != nil {
		config = *t.HTTP2
	}
	if config.SendPingTimeout == 0 {
		config.SendPingTimeout = 10 * time.Second
		config.PingTimeout = 5 * time.Second
	}
	t.HTTP2 = &config
	return t
}

// RoundTrip sends req, more than once if necessary, and returns the last response of
// Base unchanged, even if it is a failure. The context of the response's Request holds
// the number of the attempt (see [AttemptNumber]) and lives as long as that of req.
//
// RoundTrip returns an error if the last attempt had no response, if the context of req ended
// before a retry that was due, if GetBody failed, or if the Policy is invalid. The error is a
// [*retry.Error] with the reason for giving up, or the attempt's own error if that is
// permanent.
//
// If the Policy allows one attempt ([retry.NoRetry]), RoundTrip returns an error of Base unchanged
// if a Policy with more attempts would have retried it. A client above the Transport that retries
// by itself then recognizes this error.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	to := t.hosts.host(req.URL)
	p, ok := t.policyFor(req, to)
	if !ok {
		return t.passOn(req)
	}
	keyed := false
	if t.IdempotencyKey != nil {
		original := req
		var err error
		if req, err = t.withKey(original); err != nil {
			return nil, err
		}
		keyed = req != original
	}
	c := &call{Context: req.Context(), transport: t, host: to, request: req, policy: p}
	c.whole = req.Context().Value(readKey{}) != nil
	c.signs = t.signs(req)
	c.classifier = cmp.Or[retry.Classifier](p.Classifier, retry.DefaultClassifier{})
	c.policy.Classifier = c
	c.takeLane()
	c.limit = max(0, p.AttemptTimeout)
	c.policy.AttemptTimeout -= c.limit // it would apply only until the headers arrive: see call.send
	if c.mayRepeat = IsIdempotent(req); t.MayRepeat != nil && !keyed {
		c.mayRepeat = t.MayRepeat(req)
	}
	c.wire = t.wireFor(to, c.mayRepeat)
	c.planBody()
	defer c.recording.finish()
	returned := false
	defer func() {
		if !returned {
			c.abandon()
		}
	}()
	t.checked.Do(func() { t.invalid = t.Validate() })
	if t.invalid != nil {
		return nil, t.invalid
	}
	err := retry.Do(c, c.policy, c.try)
	returned = true
	return c.result(err)
}

// CloseIdleConnections closes the Transport's own connections that are not in use, and
// calls Base.CloseIdleConnections, if Base has that method.
func (t *Transport) CloseIdleConnections() {
	t.hosts.closeIdle()
	if base, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return standardBase()
}

// Effective returns the Policy with the Transport's defaults for Hint and Budget filled in, for
// logs and for retryconfig.Text. A nil Limiter stays nil, and means what the comment of PerScope
// says. The other fields mean what they mean for [retry.Do].
//
// If PerHost is nil, the Policy's own Budget stays. Otherwise, or if it has none, Effective returns
// a new Budget of the kind that each host gets: what PerHost.New makes for example.com:443, or a
// SharedBudget. If PerHost.New returns nil, it is a [retry.NoBudget]. Calls of the Transport take
// no tokens from this new Budget.
func (t *Transport) Effective() retry.Policy {
	p := t.withDefaults(t.Policy, &retry.SharedBudget{})
	if t.PerHost != nil {
		p.Budget = t.PerHost.example()
	}
	return p
}

// withDefaults replaces the fields whose nil means something else than for retry.Do.
func (t *Transport) withDefaults(p retry.Policy, budget retry.Budget) retry.Policy {
	if p.Hint == nil {
		// A caller of an http.Client does not expect to wait for an hour, and can read the header.
		p.Hint = retry.HintOrGiveUp{Max: time.Minute}
	}
	if p.Budget == nil {
		p.Budget = budget
	}
	return p
}

// policyFor returns the policy for a request, adapted to HTTP, or false for a request
// to be passed straight to Base.
func (t *Transport) policyFor(req *http.Request, to *host) (retry.Policy, bool) {
	p := t.Policy
	if own, ok := req.Context().Value(policyKey{}).(*retry.Policy); ok {
		if own == nil {
			return p, false
		}
		p = *own
	}
	if t.retriedAbove(req, to) {
		p.MaxAttempts = 1
	}
	p = t.withDefaults(p, to.budget)
	if t.PerHost != nil {
		p.Budget = t.PerHost.Budget(req.URL)
	}
	p.Budget = budgetFor(req, p.Budget)
	p.Limiter = t.PerScope.limiter(req, p)
	//lint:ignore SA1019 programs still use it, and so does the Timeout of an http.Client
	if canceled := req.Cancel; canceled != nil {
		if p.Limiter != nil {
			p.Limiter = cancelLimiter{p.Limiter, canceled}
		}
		p.Clock = cancelClock{cmp.Or[retry.Clock](p.Clock, retry.SystemClock{}), canceled}
	}
	own := p.Hooks
	p.Hooks = retry.Hooks{OnRetry: discardResponse}
	return p.With(own), true
}

// cancelClock is a Clock whose Sleep also ends when a request's Cancel is closed. Base then
// reports that.
type cancelClock struct {
	retry.Clock
	canceled <-chan struct{}
}

func (c cancelClock) Unwrap() retry.Clock { return c.Clock }

func (c cancelClock) Sleep(ctx context.Context, d time.Duration) error {
	ctx, end := untilClosed(ctx, c.canceled)
	defer end()
	return c.Clock.Sleep(ctx, d)
}

// cancelLimiter is a Limiter whose Wait also ends when a request's Cancel is closed.
type cancelLimiter struct {
	retry.Limiter
	canceled <-chan struct{}
}

func (l cancelLimiter) Wait(ctx context.Context) error {
	ctx, end := untilClosed(ctx, l.canceled)
	defer end()
	return l.Limiter.Wait(ctx)
}

// Paces passes the question on to a Limiter that paces.
func (l cancelLimiter) Paces(a retry.Attempt) bool {
	p, ok := l.Limiter.(pacer)
	return ok && p.Paces(a)
}

// Observe passes the attempt on to a Limiter that observes.
func (l cancelLimiter) Observe(a retry.Attempt) {
	if o, ok := l.Limiter.(interface{ Observe(retry.Attempt) }); ok {
		o.Observe(a)
	}
}

// untilClosed returns a context that also ends when a channel is closed.
func untilClosed(ctx context.Context, closed <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

type policyKey struct{}

// WithPolicy returns a context for requests that use p instead of the Transport's
// Policy. The Transport's PerHost still replaces the Budget of p; without a PerHost and
// a Budget, the host's own Budget is used, as for other requests.
func WithPolicy(ctx context.Context, p retry.Policy) context.Context {
	return context.WithValue(ctx, policyKey{}, &p)
}

// WithoutRetry returns a context for requests that a Transport passes to its Base
// unchanged, without retries, time limit or hooks. Base may still retry them. If the Transport has a
// Sign, they are signed, once.
func WithoutRetry(ctx context.Context) context.Context {
	return context.WithValue(ctx, policyKey{}, (*retry.Policy)(nil))
}
