package wire

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
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
	conns     []*conn       // that can be shared, the newest last
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

// A conn is a connection of a pool.
type conn struct {
	*http.ClientConn
	opened time.Time
	single bool // it serves the request that opened it, as with HTTP/1, or because nobody else finds it
}

// get returns a connection for the request of x, or the error of opening one. Each request that finds
// none opens one and takes the first that is there, its own or another's, as net/http does: a
// connection that hangs while it is opened delays nobody else. A request that wants to be alone holds
// a connection, which is not among those that can be shared until share is called.
func (p *pool) get(x *Exchange) (c *conn, held bool, err error) {
	ctx := x.Request.Context()
	left := make(chan struct{})
	defer close(left)
	var opened chan opening
	for {
		c, held, added := p.usable(x, opened == nil)
		if c != nil {
			return c, held, nil
		}
		if opened == nil && added == nil {
			opened = make(chan opening)
			go p.open(dialContext(&x.Request, x.Direct), x, opened, left)
			added = p.wait()
		}
		select {
		case o := <-opened:
			return o.conn, o.held, o.err
		case <-added:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// isUsable reports whether a connection can take a request. It does not reserve a stream: a
// request that waits for its reserved stream would block those that have reserved the rest
// (Go 1.26).
func isUsable(c *conn) bool { return c.Err() == nil && c.Available() > 0 }

// find returns the index of a connection for the request of x, or -1. p.mu is held.
func (p *pool) find(x *Exchange) int {
	for i := len(p.conns) - 1; i >= 0; i-- {
		c := p.conns[i]
		if isUsable(c) && c.opened.After(x.Since) && (!x.Alone || c.InFlight() == 0) {
			return i
		}
	}
	return -1
}

// usable returns a connection that can take the request of x. If there is none, and the caller has to
// wait for that of another request, it returns a channel that is closed when there is a new one.
// Otherwise the caller must call open, if it has not done that, and there is neither.
func (p *pool) usable(x *Exchange, mayOpen bool) (c *conn, held bool, added chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = slices.DeleteFunc(p.conns, func(c *conn) bool { return c.Err() != nil })
	i, most := p.find(x), x.Direct.MaxConnsPerHost
	switch {
	case i >= 0 && x.Alone:
		c = p.conns[i]
		p.conns = slices.Delete(p.conns, i, i+1)
		p.others++
		return c, true, nil
	case i >= 0:
		return p.conns[i], false, nil
	case most > 0 && len(p.conns) >= most:
		return p.conns[len(p.conns)-1], false, nil // its RoundTrip waits
	case !mayOpen, most > 0 && len(p.conns)+p.others >= most:
		return nil, false, p.waitLocked()
	}
	p.others++
	if p.dialer == nil {
		p.dialer = dialerOf(x.Direct)
	}
	return nil, false, nil
}

// hasUsable reports whether there is a connection that can take a request.
func (p *pool) hasUsable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.conns, isUsable)
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
	conn *conn
	held bool // see get
	err  error
}

// open opens a connection for the request of x. If that has left, the connection stays for
// others if it can be shared.
func (p *pool) open(ctx context.Context, x *Exchange, result chan<- opening, left <-chan struct{}) {
	alone, since := x.Alone, x.Since // x may be gone when the connection is open
	scheme, address := x.Request.URL.Scheme, x.Host.Address
	p.mu.Lock()
	dialer := p.dialer
	p.mu.Unlock()
	begun := time.Now()
	made, err := dialer.NewClientConn(ctx, scheme, address)
	o := opening{err: err}
	p.mu.Lock()
	switch {
	case err != nil:
		p.others--
	case made.Available() == 1 || p.forgotten:
		o.conn = &conn{ClientConn: made, opened: begun, single: true}
	case alone:
		o.conn, o.held = &conn{ClientConn: made, opened: begun}, true
	default:
		p.others--
		o.conn = p.add(&conn{ClientConn: made, opened: begun}, since)
	}
	p.signal() // also after a failure: another request may open one now
	p.mu.Unlock()
	select {
	case result <- o:
	case <-left:
		p.giveBack(o)
	}
}

// add adds a connection to those that can be shared, unless another one was faster. It returns the
// one to use. Those that were opened before since may be dead, so they are retired. p.mu is held.
func (p *pool) add(c *conn, since time.Time) *conn {
	p.conns = slices.DeleteFunc(p.conns, func(other *conn) bool {
		old := !other.opened.After(since)
		if old {
			go retire(other.ClientConn)
		}
		return old
	})
	i := p.find(&Exchange{})
	if i >= 0 {
		go c.Close()
		return p.conns[i]
	}
	p.conns = append(p.conns, c)
	return c
}

// giveBack takes a connection whose request has left.
func (p *pool) giveBack(o opening) {
	switch {
	case o.err != nil:
	case o.conn.single:
		_ = o.conn.Close()
		p.end()
	case o.held:
		p.share(o.conn)
	}
}

// share adds a connection that was held for one request to those that can be shared.
func (p *pool) share(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others--
	if p.forgotten {
		retire(c.ClientConn)
	} else {
		p.conns = append(p.conns, c)
	}
	p.signal()
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
// or if it is the request's own. If the connection is held, it can be shared from the moment when the
// headers of req have been written.
func (p *pool) roundTrip(c *conn, held bool, req *http.Request) (*http.Response, error) {
	sent, share := req, func() {}
	if held {
		share = sync.OnceFunc(func() { p.share(c) })
		trace := &httptrace.ClientTrace{WroteHeaders: share}
		sent = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	}
	resp, err := c.RoundTrip(sent)
	share()
	if err == nil {
		resp.Request = req
	}
	m := meaningOf(err)
	switch {
	case c.single:
		p.retireOwn(c.ClientConn)
	case m == notSent, m == notTaken, m == turnedAway:
		p.mu.Lock()
		p.conns = slices.DeleteFunc(p.conns, func(other *conn) bool { return other == c })
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
		f(c.ClientConn)
	}
}

// forget retires the connections, and those that are being opened.
func (p *pool) forget() {
	p.mu.Lock()
	p.forgotten = true
	p.mu.Unlock()
	p.eachConn(retire)
}
