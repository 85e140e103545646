package retryhttp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
)

// Unlimited returns a PerScope without Limiters. With it, calls wait for no limit, unless their
// Policy has a Limiter.
func Unlimited() *PerScope {
	return &PerScope{Scope: func(*http.Request) string { return "" }}
}

// PerScope keeps a [retry.Limiter] for each scope of requests, so that calls share what they
// learn of a server's limit with those under the same limit, and with no others.
//
// The zero value creates a [ratelimit.Limiter] for each route, with the Clock of the Policy.
// Several Transports may share a PerScope by pointer. It must not be copied or changed once it is
// in use.
type PerScope struct {
	// Scope returns the scope of a request, or "" for none. It must be safe for concurrent
	// use. nil means [ByRoute].
	Scope func(*http.Request) string

	// New returns the Limiter for a new scope, or nil for none. It must not use the PerScope.
	// nil means a new ratelimit.Limiter with the Clock of the Policy.
	New func(scope string) retry.Limiter

	// MaxScopes is the maximum number of Limiters. Beyond that, the least recently used one
	// is dropped; calls that wait for it are not affected. 0 or less means 1024.
	MaxScopes int

	scopes recent[string, retry.Limiter]
}

// ByRoute returns the method, host, port and path of a request, and a hash of its
// Authorization. Calls to one route do not wait for the limit of another route. If paths
// contain an ID, as in /users/123, each ID becomes a scope of its own, with too few calls to
// learn from. For such paths, write a function that returns the same name for all IDs. An API
// key in another header, or in the query, is not part of the scope.
func ByRoute(req *http.Request) string {
	return cmp.Or(req.Method, http.MethodGet) + " " + req.URL.Path + " " + ByHost(req)
}

// ByHost returns the host and port of a request, and a hash of its Authorization header. The
// result is the same in all processes, so it may be the Key of a shared limit. Use it only if
// one limit covers all routes of the host. If each route has a limit of its own, a limit that
// is used up on one route makes calls to the others wait, too.
func ByHost(req *http.Request) string {
	key := sha256.Sum256([]byte(req.Header.Get("Authorization")))
	return authorityOf(req.URL).String() + " " + hex.EncodeToString(key[:8])
}

// limiter returns a Limiter for a request that also waits for that of a policy. Both may be nil.
func (p *PerScope) limiter(req *http.Request, policy retry.Policy) retry.Limiter {
	other := policy.Limiter
	if p == nil || req.URL == nil { // Base returns an error
		return other
	}
	name := ByRoute
	if p.Scope != nil {
		name = p.Scope
	}
	scope := name(req)
	if scope == "" {
		return other
	}
	own, _ := p.scopes.get(scope, p.MaxScopes, func() retry.Limiter {
		if p.New == nil {
			return &ratelimit.Limiter{Clock: policy.Clock}
		}
		return p.New(scope)
	})
	switch {
	case own == nil:
		return other
	case other == nil:
		return own
	}
	return limiters{own, other}
}

// limiters is a Limiter that waits for all, one after the other.
type limiters []retry.Limiter

func (all limiters) Wait(ctx context.Context) error {
	for _, l := range all {
		if err := l.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// listeners returns the Limiters that are told of responses.
func listeners(l retry.Limiter) []listener {
	switch l := l.(type) {
	case listener:
		return []listener{l}
	case cancelLimiter:
		return listeners(l.Limiter)
	case limiters:
		var found []listener
		for _, one := range l {
			found = append(found, listeners(one)...)
		}
		return found
	}
	return nil
}

// A pacer is a Limiter that may pace retries: see [retry.Limiter].
type pacer interface{ Paces(a retry.Attempt) bool }

// Paces reports whether one of the Limiters paces the retry.
func (all limiters) Paces(a retry.Attempt) bool {
	for _, l := range all {
		p, ok := l.(pacer)
		if ok && p.Paces(a) {
			return true
		}
	}
	return false
}

// Observe passes the attempt on to those that observe.
func (all limiters) Observe(a retry.Attempt) {
	for _, l := range all {
		if o, ok := l.(interface{ Observe(retry.Attempt) }); ok {
			o.Observe(a)
		}
	}
}
