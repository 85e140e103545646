// Package memnet is a network in memory, for clients and servers in one bubble of
// testing/synctest.
package memnet

import (
	"context"
	"net"
	"sync"
)

// Network is a network in memory, and its listener: real connections do not work in virtual
// time. The zero value is not usable.
type Network struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

// New returns a network.
func New() *Network {
	return &Network{connections: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener, whatever the address.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.connections <- server:
		return client, nil
	case <-n.closed:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

// Accept implements [net.Listener].
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.connections:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (n *Network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr implements [net.Listener].
func (n *Network) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }
