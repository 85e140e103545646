package overload

import (
	"context"
	"net"
	"sync"
)

// Memory is a network in memory, and its listener: real connections do not work in virtual time.
type Memory struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

// NewMemory returns a network.
func NewMemory() *Memory {
	return &Memory{connections: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener, whatever the address.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.connections <- server:
		return client, nil
	case <-m.closed:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

// Accept implements [net.Listener].
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.connections:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr implements [net.Listener].
func (m *Memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }
