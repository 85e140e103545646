package retryhttp

import (
	"cmp"
	"container/list"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gobackoff/retry"
)

// PerHost keeps a [retry.Budget] for each host, so one failing host does not use up the
// retries of the others. A host is a name and a port: https and http URLs with the same
// name have separate Budgets, unless they specify the same port.
//
// The zero value creates a [retry.InvitedBudget] around a default [retry.TokenBudget] for
// each host. Several Transports may share a PerHost by pointer. It must not be copied or changed once it
// is in use.
type PerHost struct {
	// New returns the Budget for a new host, given as name:port, or nil for no limit on
	// retries. It must not use the PerHost. If New is nil, each host gets a new
	// InvitedBudget around a TokenBudget.
	New func(host string) retry.Budget

	// MaxHosts is the maximum number of Budgets. Beyond that, the least recently used
	// one is dropped. 0 or less means 1024.
	MaxHosts int

	mu    sync.Mutex
	hosts map[authority]*list.Element
	order list.List // of *host, most recently used first
}

// Unbudgeted returns a PerHost without Budgets: a Transport with it may make all the
// retries that its Policy allows.
func Unbudgeted() *PerHost {
	return &PerHost{New: func(string) retry.Budget { return nil }}
}

type authority struct{ name, port string }

// A host is what is known about a host. If its protocol is outdated, nothing is executed
// twice that must not be, but a resend by net/http may not be counted.
type host struct {
	authority authority
	budget    retry.Budget
	protocol  atomic.Int32  // the major version of HTTP that it used last; 0: unknown
	responses atomic.Uint32 // that have arrived
	outer     sync.Map      // kinds of clients that retry requests to it

	plain, secure pool        // for the URL's scheme
	noPool        atomic.Bool // no connections are opened: the http.Transport cannot, or the host is forgotten
}

func (h *host) String() string { return net.JoinHostPort(h.authority.name, h.authority.port) }

func (h *host) eachConn(f func(*http.ClientConn)) {
	h.plain.eachConn(f)
	h.secure.eachConn(f)
}

// Budget returns the Budget for the host of u.
func (p *PerHost) Budget(u *url.URL) retry.Budget { return p.host(u).budget }

func (p *PerHost) host(u *url.URL) *host {
	if u == nil { // Base returns an error
		return new(host)
	}
	key := authority{strings.ToLower(u.Hostname()), u.Port()}
	switch {
	case key.port != "":
	case strings.EqualFold(u.Scheme, "https"):
		key.port = "443"
	default:
		key.port = "80"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.hosts[key]; ok {
		p.order.MoveToFront(e)
		return e.Value.(*host)
	}
	if p.order.Len() >= cmp.Or(max(0, p.MaxHosts), 1024) {
		forgotten := p.order.Remove(p.order.Back()).(*host)
		delete(p.hosts, forgotten.authority)
		forgotten.noPool.Store(true) // a call may still use it
		go forgotten.eachConn(retire)
	}
	if p.hosts == nil {
		p.hosts = map[authority]*list.Element{}
	}
	h := &host{authority: key}
	if p.New == nil {
		h.budget = &retry.InvitedBudget{Budget: &retry.TokenBudget{}}
	} else {
		h.budget = p.New(h.String())
	}
	p.hosts[key] = p.order.PushFront(h)
	return h
}

// closeIdle closes the connections that are not in use.
func (p *PerHost) closeIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.order.Front(); e != nil; e = e.Next() {
		e.Value.(*host).eachConn(closeIfIdle)
	}
}
