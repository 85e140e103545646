package compat

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// listen starts a server that handles each connection with handle, which need not close
// it, and returns its address.
func listen(t *testing.T, handle func(net.Conn)) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return listener.Addr().(*net.TCPAddr)
}
