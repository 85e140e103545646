package retryhttp

import (
	"cmp"
	"context"
	"hash/maphash"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
)

// lanes are the Limiters that a Transport makes by itself, one for each host and credential. None
// is made until a response refuses or tells a limit, so calls to servers without limits cost next
// to nothing.
type lanes struct {
	used      atomic.Bool // there is a Limiter
	found     recent[laneKey, *ratelimit.Limiter]
	forecasts recent[laneKey, *forecast] // for the keys of requests that are not signed
}

// A forecast is the key that signing a request will give it: that of the request before, unless
// keys have changed often, as they do if a Transport signs for several users. A call can then wait
// before its attempt, whose time is limited.
type forecast struct {
	mu    sync.Mutex
	key   laneKey
	doubt int // above 0: do not rely on it
}

func (f *forecast) get() (key laneKey, sure bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.key, f.doubt == 0
}

func (f *forecast) note(key laneKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.key == key {
		f.doubt = max(0, f.doubt-1)
		return
	}
	if f.key != (laneKey{}) {
		f.doubt += 20
	}
	f.key = key
}

type laneKey struct {
	host       authority
	credential uint64
}

func keyOf(req *http.Request) laneKey { return laneKey{authorityOf(req.URL), credentialOf(req)} }

// A lane is the Limiter of one call, if there is one by now. Copies of the request share it.
type lane struct {
	all     *lanes
	request *http.Request // the caller's, which is read only before the first attempt
	signs   bool          // Sign may add the credential to each attempt
	clock   retry.Clock
	asked   atomic.Bool // Wait has been called
	raw     laneKey     // of request, once Wait has been called and there is any Limiter
	place   atomic.Pointer[place]
}

// A place is a request's key, its Limiter if there is one, and the route as which that knows it.
type place struct {
	key laneKey
	*ratelimit.Limiter
	route string
}

func (p *place) in(ctx context.Context) context.Context { return ratelimit.WithRoute(ctx, p.route) }

// takeLane gives the call a lane, unless the user has chosen Limiters, or none.
func (c *call) takeLane() {
	t, req := c.transport, c.request
	if c.policy.Limiter != nil || t.PerScope != nil || req.URL == nil {
		return
	}
	c.lane = &c.own
	c.own.all, c.own.request, c.own.signs, c.own.clock = &t.lanes, req, c.signs, t.Policy.Clock
	c.policy.Limiter = c.lane
	//lint:ignore SA1019 programs still use it, and so does the Timeout of an http.Client
	if canceled := req.Cancel; canceled != nil {
		c.policy.Limiter = cancelLimiter{c.lane, canceled}
	}
}

// Wait implements [retry.Limiter].
func (n *lane) Wait(ctx context.Context) error {
	first := n.asked.CompareAndSwap(false, true)
	if !n.all.used.Load() {
		return nil
	}
	if first {
		n.forecast()
	}
	p := n.place.Load()
	if p == nil {
		return nil
	}
	if p.Limiter == nil { // there may be one by now
		p = &place{p.key, n.all.found.find(p.key), p.route}
		n.place.Store(p)
	}
	if p.Limiter == nil {
		return nil
	}
	return p.Wait(p.in(ctx))
}

// forecast finds the Limiter of the first attempt.
func (n *lane) forecast() {
	n.raw = keyOf(n.request)
	if !n.signs {
		n.know(n.raw, n.request)
		return
	}
	f := n.all.forecasts.find(n.raw)
	if f == nil {
		return
	}
	key, sure := f.get()
	if sure {
		n.know(key, n.request)
	}
}

// know notes the key of a request, and its Limiter if there is one by now. It reports whether
// that is another Limiter than before.
func (n *lane) know(key laneKey, req *http.Request) (another bool) {
	before, l := n.place.Load(), n.all.found.find(key)
	if before != nil && before.key == key && before.Limiter == l {
		return false
	}
	n.place.Store(&place{key, l, cmp.Or(req.Method, http.MethodGet) + " " + routeOf(req.URL.Path)})
	return l != nil && (before == nil || before.Limiter != l)
}

// Paces reports whether the Limiter paces the retry.
func (n *lane) Paces(a retry.Attempt) bool {
	p := n.place.Load()
	return p != nil && p.Limiter != nil && p.Limiter.Paces(a)
}

// enter notes the credential of a request that is signed: what is in the headers, or what Sign says
// beside the headers of source, of which the request was made. It waits for the Limiter of that
// credential, if the call has not waited for it.
func (c *call) enter(ctx context.Context, source, x *http.Request, s *sending) error {
	n := c.lane
	if n == nil || !n.signs && !n.all.used.Load() {
		return nil
	}
	if s.isPooled() {
		return nil
	}
	key := keyOf(x)
	if s.signing != nil && s.signing.scope != 0 {
		key.credential = credentialOf(source) ^ s.signing.scope
	}
	if n.signs && n.raw != (laneKey{}) {
		f, _ := n.all.forecasts.get(n.raw, 0, func() *forecast { return &forecast{} })
		f.note(key)
	}
	if !n.know(key, x) {
		return nil
	}
	p := n.place.Load()
	return p.Wait(p.in(ctx))
}

// heardBy returns the place whose Limiter is told of a response, or nil. The first response that
// refuses, or tells a limit, makes the Limiter.
func (c *call) heardBy(r ratelimit.Response) *place {
	n := c.lane
	p := n.place.Load()
	if p != nil && p.Limiter != nil {
		return p
	}
	if !r.Refused && len(r.States) == 0 {
		return nil
	}
	var key laneKey
	if p == nil {
		key = keyOf(c.request) // not the exchange, whose headers a Base may have changed
	} else {
		key = p.key
	}
	n.all.found.get(key, 0, func() *ratelimit.Limiter { return &ratelimit.Limiter{Clock: n.clock} })
	n.all.used.Store(true)
	n.know(key, c.request)
	return n.place.Load()
}

var seed = maphash.MakeSeed()

// credentialOf returns a hash of what a request shows to the server as its credential: of the
// headers that hold one, of the user in the URL, and of the keys in its query. The secret itself
// is not kept.
func credentialOf(req *http.Request) uint64 {
	sum := maphash.String(seed, req.URL.User.String())
	for name, values := range req.Header {
		if len(values) == 0 || !holdsCredential(name) {
			continue
		}
		value := values[0]
		if name == "Authorization" {
			value = principal(value)
		}
		sum ^= maphash.String(seed, name+"\n"+value) // in any order
	}
	if strings.ContainsAny(req.URL.RawQuery, "kKtT") { // key, token
		query := req.URL.Query()
		for _, name := range queryKeys {
			if value := query.Get(name); value != "" {
				sum ^= maphash.String(seed, "?"+name+"\n"+value)
			}
		}
	}
	return sum
}

// queryKeys are names of credentials in the query.
var queryKeys = []string{"key", "api_key", "apikey", "apiKey", "access_token", "token", "api-key"}

// credentialWords are the ends of the names of headers that hold a credential, in lower case.
var credentialWords = []string{
	"authorization", "api-key", "apikey", "access-key", "subscription-key", "functions-key", "application-key", "rapidapi-key",
	"api-token", "apitoken", "access-token", "auth-token", "private-token", "vault-token", "job-token", "subscription-token",
	"app-id", "client-id", "auth-key", "auth-email", "tenant-id", "organization", "openai-project",
}

func holdsCredential(name string) bool {
	name = strings.ToLower(name)
	for _, word := range credentialWords {
		if strings.HasSuffix(name, word) {
			return true
		}
	}
	return false
}

// principal returns the part of an Authorization that stays the same from request to request: a
// signature does not.
func principal(value string) string {
	scheme, rest, _ := strings.Cut(value, " ")
	switch scheme = strings.ToLower(scheme); {
	case strings.HasPrefix(scheme, "aws4-"): // Credential=AKID/20261128/eu-west-1/s3/aws4_request
		_, rest, _ = strings.Cut(rest, "Credential=")
		rest, _, _ = strings.Cut(rest, "/")
	case scheme == "aws", strings.HasPrefix(scheme, "sharedkey"): // AKID:signature
		rest, _, _ = strings.Cut(rest, ":")
	case scheme == "oauth":
		rest = param(rest, "oauth_consumer_key") + " " + param(rest, "oauth_token")
	case scheme == "digest":
		rest = param(rest, "username")
	}
	return scheme + " " + rest
}

// param returns the value of a parameter in a list such as a="1", b="2".
func param(list, name string) string {
	_, rest, ok := strings.Cut(list, name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// routeOf returns a path without the segments that contain a digit.
func routeOf(path string) string {
	if strings.ContainsAny(path, digits) {
		return withoutIDs(path)
	}
	return path
}
