package wire

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync/atomic"
)

// Progress is how far a request has come before it has a response.
type Progress uint8

const (
	Queued     Progress = iota // it waits for a connection
	Connecting                 // a connection is being opened for it
	Connected                  // it has a connection
	Written                    // its headers have been written
)

type followKey struct{}

// Follow returns a context for a request whose progress f hears of, in any goroutine. Of a Base that
// does not use net/http, it may hear nothing.
func Follow(ctx context.Context, f func(Progress)) context.Context {
	var queued atomic.Bool
	follow := func(p Progress) {
		if p == Connecting && !queued.Load() { // it has another one already
			return
		}
		queued.Store(p <= Connecting)
		f(p)
	}
	ctx = context.WithValue(ctx, followKey{}, follow)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:           func(string) { follow(Queued) },
		DNSStart:          func(httptrace.DNSStartInfo) { follow(Connecting) },
		ConnectStart:      func(string, string) { follow(Connecting) },
		ConnectDone:       func(string, string, error) { follow(Connecting) },
		TLSHandshakeStart: func() { follow(Connecting) },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { follow(Connecting) },
		GotConn:           func(httptrace.GotConnInfo) { follow(Connected) },
		WroteHeaders:      func() { follow(Written) },
	})
}

// report tells who follows a request about its progress over the pool, of which a trace shows only
// that the headers are written.
func report(ctx context.Context, p Progress) {
	f, ok := ctx.Value(followKey{}).(func(Progress))
	if ok {
		f(p)
	}
}
