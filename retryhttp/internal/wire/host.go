package wire

import "sync/atomic"

// A Host is what is known about the connections to a host. If its protocol is outdated, nothing
// is executed twice that must not be, but a resend by net/http may not be counted. A Host must
// not be copied.
type Host struct {
	Name    string // without port
	Address string // name:port

	protocol  atomic.Int32  // the major version of HTTP that it used last; 0: unknown
	responses atomic.Uint32 // that have arrived

	plain, secure pool        // for the URL's scheme
	noPool        atomic.Bool // no connections are opened: the http.Transport cannot, or the host is forgotten
}

// Responses returns the number of responses that have arrived; it may overflow.
func (h *Host) Responses() uint32 { return h.responses.Load() }

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
