package wire

import "sync/atomic"

// A Host is what is known about the connections to a host. If its protocol is outdated, nothing
// is executed twice that must not be, but a resend by net/http may not be counted. A Host must
// not be copied.
type Host struct {
	Name    string // without port
	Address string // name:port

	protocol atomic.Int32 // the major version of HTTP that it used last; 0: unknown

	plain, secure pool        // for the URL's scheme
	noPool        atomic.Bool // no connections are opened: the http.Transport cannot, or the host is forgotten
	left          atomic.Bool // see Leave
}

// Leave says that a request got no response in time. The http.Transport may have an HTTP/2 connection
// that is dead, and would use it for every further request. So they leave over the pool as long as
// that has a connection, which it gets with the next request that has Since.
func (h *Host) Leave() { h.left.Store(true) }

// hasLeft reports whether requests leave over the pool since Leave.
func (h *Host) hasLeft(scheme string) bool {
	if !h.left.Load() {
		return false
	}
	p := &h.plain
	if scheme == "https" {
		p = &h.secure
	}
	return p.hasUsable()
}

// CloseIdle closes the connections that are not in use.
func (h *Host) CloseIdle() {
	h.plain.eachConn(closeIfIdle)
	h.secure.eachConn(closeIfIdle)
}

// Forget closes each connection as soon as it is idle. A call may still use the Host.
func (h *Host) Forget() {
	h.noPool.Store(true)
	go func() {
		h.plain.forget()
		h.secure.forget()
	}()
}
