package wire

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A pool has HTTP/2 connections of an http.Transport to one host, beside those that the
// http.Transport manages itself. Over one of them, net/http sends a request once, and
// returns the reason why it failed.
//
// There is no smaller way to learn the reason. Without a pool, an http.Transport resends a
// request without a body after a GOAWAY, which is safe, and after REFUSED_STREAM, which is not,
// and does not tell which it was: either POSTs fail wherever a server ends its
// connections, or some are executed twice behind HAProxy. A body of unknown length would
// stop it, but change the headers that leave. A connection for each such request would cost it a
// handshake, and one connection for all a wait, if the server allows few streams or
// the connection hangs while it is opened.
//
// A connection that turns out to speak HTTP/1 serves the request that opened it, and is closed:
// over HTTP/1, net/http resends only few requests, and manages its connections itself.
type pool struct {
	mu        sync.Mutex
	conns     []*http.ClientConn
	others    int           // connections that are being opened, or serve one request
	added     chan struct{} // closed when conns gets another; nil: nobody waits for that
	dialer    *http.Transport
	forgotten bool // it gets no connections
}

// poolFor returns the pool for a request, or nil if only an http.Transport knows how to
// send it.
func (h *Host) poolFor(req *http.Request) *pool {
	isASCII := !strings.ContainsFunc(h.Name, func(r rune) bool { return r > 0x7f })
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

// get returns a connection for a request, or the error of opening one. Each request that finds
// none opens one and takes the first that is there, its own or another's, as net/http does: a
// connection that hangs while it is opened delays nobody else. own means that the connection
// serves this request alone.
func (p *pool) get(req *http.Request, t *http.Transport, address string) (conn *http.ClientConn, own bool, err error) {
	ctx := req.Context()
	left := make(chan struct{})
	defer close(left)
	var opened chan opening
	for {
		conn, added := p.usable(t, opened == nil)
		if conn != nil {
			return conn, false, nil
		}
		if opened == nil && added == nil {
			opened = make(chan opening)
			go p.open(dialContext(req, t), req.URL.Scheme, address, opened, left)
			added = p.wait()
		}
		select {
		case o := <-opened:
			return o.conn, o.single, o.err
		case <-added:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// isUsable reports whether a connection can take a request. It does not reserve a stream: a
// request that waits for its reserved stream would block those that have reserved the rest
// (Go 1.26).
func isUsable(c *http.ClientConn) bool { return c.Err() == nil && c.Available() > 0 }

// usable returns a connection that can take a request. If there is none, and the caller has to
// wait for that of another request, it returns a channel that is closed when there is a new one.
// Otherwise the caller must call open, if it has not done that, and both results are nil.
func (p *pool) usable(t *http.Transport, mayOpen bool) (*http.ClientConn, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = slices.DeleteFunc(p.conns, func(c *http.ClientConn) bool { return c.Err() != nil })
	i := slices.IndexFunc(p.conns, isUsable)
	if i >= 0 {
		return p.conns[i], nil
	}
	if t.MaxConnsPerHost > 0 && len(p.conns) >= t.MaxConnsPerHost {
		return p.conns[len(p.conns)-1], nil // its RoundTrip waits
	}
	if !mayOpen || t.MaxConnsPerHost > 0 && len(p.conns)+p.others >= t.MaxConnsPerHost {
		return nil, p.waitLocked()
	}
	p.others++
	if p.dialer == nil {
		p.dialer = dialerOf(t)
	}
	return nil, nil
}

// dialerOf returns t, or a copy of it. The copy gets the proxy from the context of the dial,
// because NewClientConn asks Proxy about a request of its own, which has neither the path nor the
// headers. It has no MaxConnsPerHost: when a connection that NewClientConn made speaks HTTP/1 and
// ends, net/http counts it down although it has never counted it up, and panics (Go 1.26 and 1.27).
func dialerOf(t *http.Transport) *http.Transport {
	if t.MaxConnsPerHost <= 0 && t.Proxy == nil {
		return t
	}
	t = t.Clone()
	t.MaxConnsPerHost = 0
	t.Proxy = func(req *http.Request) (*url.URL, error) {
		found, _ := req.Context().Value(proxyKey{}).(foundProxy)
		return found.url, found.err
	}
	return t
}

type proxyKey struct{}

// foundProxy is what Proxy has said about the request for which a connection is opened.
type foundProxy struct {
	url *url.URL
	err error
}

// dialContext returns the context in which a connection for req is opened.
func dialContext(req *http.Request, t *http.Transport) context.Context {
	ctx := context.WithoutCancel(req.Context())
	if t.Proxy == nil {
		return ctx
	}
	var found foundProxy
	found.url, found.err = t.Proxy(req)
	return context.WithValue(ctx, proxyKey{}, found)
}

// opening is a connection that was opened, or the error.
type opening struct {
	conn   *http.ClientConn
	single bool // it carries one request at a time, as with HTTP/1, or nobody else finds it
	err    error
}

// open opens a connection. If the request that asked for it has left, the connection stays for
// others if it can be shared.
func (p *pool) open(ctx context.Context, scheme, address string, result chan<- opening, left <-chan struct{}) {
	p.mu.Lock()
	dialer := p.dialer
	p.mu.Unlock()
	var o opening
	o.conn, o.err = dialer.NewClientConn(ctx, scheme, address)
	p.mu.Lock()
	o.single = o.err == nil && (o.conn.Available() == 1 || p.forgotten)
	if !o.single {
		p.others--
	}
	if o.err == nil && !o.single {
		i := slices.IndexFunc(p.conns, isUsable)
		if i < 0 {
			p.conns = append(p.conns, o.conn)
		} else { // another one was faster
			go o.conn.Close()
			o.conn = p.conns[i]
		}
	}
	p.signal() // also after a failure: another request may open one now
	p.mu.Unlock()
	select {
	case result <- o:
	case <-left:
		if o.single {
			_ = o.conn.Close()
			p.end()
		}
	}
}

// end notes that a connection which served one request is closed.
func (p *pool) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others--
	p.signal()
}

// signal wakes the requests that wait for a connection. p.mu is held.
func (p *pool) signal() {
	if p.added != nil {
		close(p.added)
		p.added = nil
	}
}

// wait returns a channel that is closed when an opening ends.
func (p *pool) wait() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waitLocked()
}

func (p *pool) waitLocked() chan struct{} {
	if p.added == nil {
		p.added = make(chan struct{})
	}
	return p.added
}

// roundTrip sends req over a connection, which it retires if that accepts no more requests,
// or if it is the request's own.
func (p *pool) roundTrip(c *http.ClientConn, own bool, req *http.Request) (*http.Response, error) {
	resp, err := c.RoundTrip(req)
	m := meaningOf(err)
	switch {
	case own:
		p.retireOwn(c)
	case m == notSent, m == notTaken:
		p.mu.Lock()
		p.conns = slices.DeleteFunc(p.conns, func(other *http.ClientConn) bool { return other == c })
		p.mu.Unlock()
		retire(c)
	}
	return resp, err
}

// retire closes a connection as soon as it is idle.
func retire(c *http.ClientConn) {
	c.SetStateHook(closeIfIdle)
	closeIfIdle(c)
}

// retireOwn is retire for a connection that serves one request.
func (p *pool) retireOwn(c *http.ClientConn) {
	end := sync.OnceFunc(p.end)
	hook := func(c *http.ClientConn) {
		closeIfIdle(c)
		if c.InFlight() == 0 || c.Err() != nil {
			end()
		}
	}
	c.SetStateHook(hook)
	hook(c)
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
		f(c)
	}
}

// forget retires the connections, and those that are being opened.
func (p *pool) forget() {
	p.mu.Lock()
	p.forgotten = true
	p.mu.Unlock()
	p.eachConn(retire)
}
