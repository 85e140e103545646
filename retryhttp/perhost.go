package retryhttp

import (
	"cmp"
	"container/list"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp/internal/wire"
)

// PerHost keeps a [retry.Budget] for each host, so one failing host does not use up the
// retries of the others. A host is a name and a port: https and http URLs with the same
// name have separate Budgets, unless they specify the same port.
//
// The zero value creates a [retry.SharedBudget] for each host. Several Transports may share a PerHost by pointer. It must not be copied or
// changed once it is in use.
type PerHost struct {
	// New returns the Budget for a new host, given as name:port, or nil for no limit on
	// retries. It must not use the PerHost. If New is nil, each host gets a new
	// SharedBudget.
	New func(host string) retry.Budget

	// MaxHosts is the maximum number of Budgets. Beyond that, the least recently used
	// one is dropped. 0 or less means 1024.
	MaxHosts int

	hosts recent[authority, *host]
}

// example returns a Budget like those of the hosts.
func (p *PerHost) example() retry.Budget {
	if p.New == nil {
		return &retry.SharedBudget{}
	}
	return cmp.Or[retry.Budget](p.New("example.com:443"), retry.NoBudget{})
}

// budgetFor returns b, or the Part for the route of a request if b is a SharedBudget.
func budgetFor(req *http.Request, b retry.Budget) retry.Budget {
	shared, ok := b.(*retry.SharedBudget)
	if !ok || shared == nil || req.URL == nil {
		return b
	}
	return shared.Part(cmp.Or(req.Method, http.MethodGet) + " " + routeOf(req.URL.Path))
}

// withoutIDs replaces the segments of a path that contain a digit by "*", because most of
// them are IDs: otherwise each ID would be a route of its own with few requests.
func withoutIDs(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if strings.ContainsAny(s, digits) {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}

const digits = "0123456789"

type authority struct{ name, port string }

func authorityOf(u *url.URL) authority {
	a := authority{strings.ToLower(u.Hostname()), u.Port()}
	switch {
	case a.port != "":
	case strings.EqualFold(u.Scheme, "https"):
		a.port = "443"
	default:
		a.port = "80"
	}
	return a
}

func (a authority) String() string { return net.JoinHostPort(a.name, a.port) }

// A host is what is known about a host.
type host struct {
	wire.Host
	budget retry.Budget
	outer  sync.Map // kinds of clients that retry requests to it
}

// Budget returns the Budget for the host of u.
func (p *PerHost) Budget(u *url.URL) retry.Budget { return p.host(u).budget }

// Budgets returns the Budgets that p has now, with their hosts as name:port, from the one that
// was used last. Hosts without a Budget are left out.
func (p *PerHost) Budgets() iter.Seq2[string, retry.Budget] {
	return func(yield func(string, retry.Budget) bool) {
		var all []*host
		p.hosts.each(func(h *host) { all = append(all, h) })
		for _, h := range all {
			if h.budget != nil && !yield(h.Address, h.budget) {
				return
			}
		}
	}
}

func (p *PerHost) host(u *url.URL) *host {
	if u == nil { // Base returns an error
		return new(host)
	}
	key := authorityOf(u)
	h, forgotten := p.hosts.get(key, p.MaxHosts, func() *host {
		h := &host{Host: wire.Host{Name: key.name, Address: key.String()}}
		if p.New == nil {
			h.budget = &retry.SharedBudget{}
		} else {
			h.budget = p.New(h.Address)
		}
		return h
	})
	if forgotten != nil {
		forgotten.Forget()
	}
	return h
}

// closeIdle closes the connections that are not in use.
func (p *PerHost) closeIdle() {
	p.hosts.each(func(h *host) { h.CloseIdle() })
}

// recent keeps the values of the keys that were used last.
type recent[K comparable, V any] struct {
	mu    sync.Mutex
	found map[K]*list.Element
	order list.List // of entry[K, V], most recently used first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// get returns the value of a key, made if there is none, and the value of the key that it
// forgot for that, if any: more than a limit are not kept; 0 or less: 1024.
func (r *recent[K, V]) get(key K, limit int, create func() V) (value, forgotten V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.found[key]; ok {
		r.order.MoveToFront(e)
		return e.Value.(entry[K, V]).value, forgotten
	}
	if r.order.Len() >= cmp.Or(max(0, limit), 1024) {
		last := r.order.Remove(r.order.Back()).(entry[K, V])
		delete(r.found, last.key)
		forgotten = last.value
	}
	if r.found == nil {
		r.found = map[K]*list.Element{}
	}
	value = create()
	r.found[key] = r.order.PushFront(entry[K, V]{key, value})
	return value, forgotten
}

// find returns the value of a key, or the zero value if there is none.
func (r *recent[K, V]) find(key K) (value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.found[key]; ok {
		r.order.MoveToFront(e)
		value = e.Value.(entry[K, V]).value
	}
	return value
}

func (r *recent[K, V]) each(f func(V)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.order.Front(); e != nil; e = e.Next() {
		f(e.Value.(entry[K, V]).value)
	}
}
