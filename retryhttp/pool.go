package retryhttp

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A pool has connections of an http.Transport to one host, beside those that the
// http.Transport manages itself. Over one of them, net/http sends a request once, and
// returns the reason why it failed.
type pool struct {
	mu    sync.Mutex
	conns []pooled
	next  *opening
}

type pooled struct {
	*http.ClientConn
	single bool // it carries one request at a time, as with HTTP/1
}

// opening is a connection that is being opened. Other requests wait for it, too.
type opening struct {
	pooled
	err  error
	done chan struct{} // closed when pooled or err is set
}

// poolFor returns the pool for a request, or nil if only an http.Transport knows how to
// send it.
func (h *host) poolFor(req *http.Request) *pool {
	isASCII := !strings.ContainsFunc(h.authority.name, func(r rune) bool { return r > 0x7f })
	switch {
	case h.noPool.Load():
	case !isASCII, req.Header.Get("Upgrade") != "": // net/http encodes names, and upgrades only HTTP/1
	case req.URL.Scheme == "https":
		return &h.secure
	case req.URL.Scheme == "http":
		return &h.plain
	}
	return nil
}

// isFree reports whether the connection can take a request, for which it reserves a single
// one. Others are not reserved: a request that waits for its reserved stream would block
// those that have reserved the rest (Go 1.26).
func (c pooled) isFree() bool {
	if c.single {
		return c.Reserve() == nil
	}
	return c.Available() > 0
}

// get returns a connection for a request, or the error of opening one.
func (p *pool) get(ctx context.Context, t *http.Transport, scheme, address string) (pooled, error) {
	for {
		p.mu.Lock()
		free, most := 0, cmp.Or(t.MaxIdleConnsPerHost, http.DefaultMaxIdleConnsPerHost)
		p.conns = slices.DeleteFunc(p.conns, func(c pooled) bool {
			if c.single && c.Available() > 0 {
				if free++; free > most {
					go retire(c.ClientConn)
					return true
				}
			}
			return c.Err() != nil
		})
		i := slices.IndexFunc(p.conns, pooled.isFree)
		if i < 0 && t.MaxConnsPerHost > 0 {
			i = len(p.conns) - 1 // its RoundTrip waits
		}
		if i >= 0 {
			defer p.mu.Unlock()
			return p.conns[i], nil
		}
		o, own := p.next, p.next == nil
		if own {
			o = &opening{done: make(chan struct{})}
			p.next = o
			go p.open(context.WithoutCancel(ctx), o, t, scheme, address)
		}
		p.mu.Unlock()
		select {
		case <-o.done:
			if own || o.err != nil {
				return o.pooled, o.err
			}
		case <-ctx.Done():
			if own {
				go o.abandon()
			}
			return pooled{}, ctx.Err()
		}
	}
}

func (p *pool) open(ctx context.Context, o *opening, t *http.Transport, scheme, address string) {
	o.ClientConn, o.err = t.NewClientConn(ctx, scheme, address)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next = nil; o.err == nil {
		if o.single = o.Available() == 1; o.single {
			_ = o.Reserve() // for the request that opens it
		}
		p.conns = append(p.conns, o.pooled)
	}
	close(o.done)
}

// abandon leaves the connection to other requests.
func (o *opening) abandon() {
	if <-o.done; o.err == nil {
		o.Release()
	}
}

// roundTrip sends req over a connection, which it retires if that accepts no more requests,
// or if an http.Transport sends such requests as well.
func (p *pool) roundTrip(c pooled, req *http.Request) (*http.Response, error) {
	resp, err := c.RoundTrip(req)
	if m := meaningOf(err); m == notSent || m == notTaken || resp != nil && resp.ProtoMajor == 1 && !isReplayable(req) {
		p.mu.Lock()
		p.conns = slices.DeleteFunc(p.conns, func(other pooled) bool { return other == c })
		p.mu.Unlock()
		retire(c.ClientConn)
	}
	return resp, err
}

// retire closes a connection as soon as it is idle.
func retire(c *http.ClientConn) {
	c.SetStateHook(closeIfIdle)
	closeIfIdle(c)
}

func closeIfIdle(c *http.ClientConn) {
	if c.InFlight() == 0 {
		_ = c.Close()
	}
}

func (p *pool) eachConn(f func(*http.ClientConn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		f(c.ClientConn)
	}
}
