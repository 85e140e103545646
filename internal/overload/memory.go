package overload

import (
	"context"
	"net"
	"sync"
)

// memory is a network in memory: real connections do not work in virtual time.
type memory struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.connections <- server:
		return client, nil
	case <-m.closed:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.connections:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }
