//go:build unix

package sql_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type message struct {
	toServer bool
	commit   bool // COMMIT, or the first response to it
	bytes    []byte
}

type fault struct {
	delay   time.Duration // before anything else
	cut     cut
	reset   bool // cut with RST instead of FIN
	swallow bool // drop the next message from the server, then cut the connection
	// orphan, if not nil, drops the message and closes the client's connection, but the
	// server's only when the channel is closed.
	orphan <-chan struct{}
}

// cut is the point at which the connection ends.
type cut int

const (
	nowhere cut = iota
	before
	within // after half of the message
	after
)

// A framing reads one message. Its argument first is true for the first message in each
// direction.
type framing func(r io.Reader, toServer, first bool) ([]byte, error)

// postgresFrames follows "Message Formats" in the PostgreSQL manual: each message begins
// with a type of one byte, which the startup message lacks, and a length that includes
// itself.
func postgresFrames(r io.Reader, toServer, first bool) ([]byte, error) {
	head := 5
	if toServer && first {
		head = 4
	}
	b := make([]byte, head, 512)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return body(r, b, int(binary.BigEndian.Uint32(b[head-4:]))-4)
}

// mysqlFrames follows "MySQL Packets" in the MySQL internals manual: each packet begins
// with a length of three bytes and a sequence number of one byte.
func mysqlFrames(r io.Reader, _, _ bool) ([]byte, error) {
	b := make([]byte, 4, 512)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return body(r, b, int(b[0])|int(b[1])<<8|int(b[2])<<16)
}

func body(r io.Reader, head []byte, n int) ([]byte, error) {
	b := append(head, make([]byte, n)...)
	_, err := io.ReadFull(r, b[len(head):])
	return b, err
}

// isCommit reports whether a message is COMMIT as a simple query: Q in PostgreSQL,
// COM_QUERY in MySQL.
func isCommit(b []byte) bool {
	text := strings.ToLower(string(b))
	return len(b) > 5 && (b[0] == 'Q' && text[5:] == "commit\x00" || b[4] == 3 && text[5:] == "commit")
}

// proxy forwards messages between a driver and its server, and injects faults.
type proxy struct {
	listener net.Listener
	targets  atomic.Pointer[[]string] // new connections take them in turn
	turn     atomic.Int64
	frames   framing
	plan     func(message) fault // safe for concurrent use
	running  sync.WaitGroup
	cuts     atomic.Int64
	links    sync.Map // the keys are all *link values, including closed ones
}

func startProxy(t *testing.T, target string, frames framing, plan func(message) fault) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, frames: frames, plan: plan}
	p.lead(target)
	p.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(client.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() { // a failed test may have left connections open
		_ = listener.Close()
		p.links.Range(func(l, _ any) bool { l.(*link).end(true); return true })
		p.close()
	})
	return p
}

// lead makes new connections lead to these addresses.
func (p *proxy) lead(targets ...string) { p.targets.Store(&targets) }

func (p *proxy) addr() string { return p.listener.Addr().String() }

// close waits until the clients have closed their connections and all messages have been
// forwarded.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.running.Wait()
}

func (p *proxy) serve(client *net.TCPConn) {
	targets := *p.targets.Load()
	conn, err := net.Dial("tcp", targets[int(p.turn.Add(1))%len(targets)])
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{proxy: p, client: client, server: conn.(*net.TCPConn)}
	p.links.Store(l, true)
	p.running.Go(func() { l.pass(l.server, l.client, false) })
	l.pass(l.client, l.server, true)
}

type link struct {
	proxy          *proxy
	client, server *net.TCPConn
	committing     atomic.Bool // COMMIT was forwarded but has no response yet
	swallowing     atomic.Bool
	failed         atomic.Bool
}

func (l *link) pass(from, to *net.TCPConn, toServer bool) {
	defer l.end(false)
	for first := true; ; first = false {
		b, err := l.proxy.frames(from, toServer, first)
		if err != nil {
			return
		}
		m := message{toServer: toServer, bytes: b}
		if toServer {
			m.commit = isCommit(b)
		} else if m.commit = l.committing.Swap(false); l.swallowing.Load() {
			l.fail(false)
			return
		}
		f := l.proxy.plan(m)
		time.Sleep(f.delay)
		if f.orphan != nil {
			_ = l.client.Close()
			<-f.orphan
			l.fail(false)
			return
		}
		if toServer {
			l.committing.Store(m.commit)
			l.swallowing.Store(f.swallow || f.cut == after) // before the write: the response may precede the cut
		}
		switch f.cut {
		case before:
			b = nil
		case within:
			b = b[:len(b)/2]
		}
		_, err = to.Write(b)
		if f.cut != nowhere {
			l.fail(f.reset)
		}
		if err != nil || f.cut != nowhere {
			return
		}
	}
}

// fail ends the connection and counts it once.
func (l *link) fail(reset bool) {
	if l.failed.CompareAndSwap(false, true) {
		l.proxy.cuts.Add(1)
	}
	l.end(reset)
}

func (l *link) end(reset bool) {
	for _, conn := range []*net.TCPConn{l.client, l.server} {
		if reset {
			_ = conn.SetLinger(0)
		}
		_ = conn.Close()
	}
}
