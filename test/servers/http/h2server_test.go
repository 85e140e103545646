package http_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A step is the server's reaction to one stream.
type step struct {
	// early means that the step is performed as soon as the headers have arrived. The
	// request is still incomplete, because its body is longer than the stream's window.
	early bool
	// refuses means that, by the rules of HTTP/2, the request was not processed, even
	// if it was read.
	refuses bool
	do      func(c *h2Conn, id uint32)
}

// h2Server applies one step to each stream, then responds with 200.
type h2Server struct {
	wg sync.WaitGroup

	mu       sync.Mutex
	steps    []step
	streams  int      // number of streams whose headers have arrived
	executed []string // bodies of complete requests that were not refused
	conns    []net.Conn
}

func (s *h2Server) listen(t testing.TB) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.start(conn)
		}
	})
	t.Cleanup(func() {
		assert.NoError(t, listener.Close())
		s.stop()
	})
	return "http://" + listener.Addr().String() + "/"
}

func (s *h2Server) start(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, conn)
	s.wg.Go(func() { s.serve(conn) })
}

func (s *h2Server) stop() {
	s.mu.Lock()
	for _, conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *h2Server) next() step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams++
	if s.streams > len(s.steps) {
		return step{do: responds(http.StatusOK, "done")}
	}
	return s.steps[s.streams-1]
}

func (s *h2Server) execute(body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.executed = append(s.executed, body)
}

func (s *h2Server) seen() (streams int, executed []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams, s.executed
}

type h2Conn struct {
	server *h2Server
	conn   net.Conn
	framer *http2.Framer
	open   map[uint32]*h2Stream
}

type h2Stream struct {
	step step
	body bytes.Buffer
}

// serve reads until the client closes the connection. It ignores write errors, because
// the next read then fails as well.
func (s *h2Server) serve(conn net.Conn) {
	defer conn.Close()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	c := &h2Conn{server: s, conn: conn, framer: http2.NewFramer(conn, conn), open: map[uint32]*h2Stream{}}
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = c.framer.WriteSettings()
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return
		}
		c.handle(frame)
	}
}

func (c *h2Conn) handle(frame http2.Frame) {
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if !frame.IsAck() {
			_ = c.framer.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !frame.IsAck() {
			_ = c.framer.WritePing(true, frame.Data)
		}
	case *http2.MetaHeadersFrame:
		st := &h2Stream{step: c.server.next()}
		c.open[frame.StreamID] = st
		c.proceed(frame.StreamID, st, frame.StreamEnded())
	case *http2.DataFrame:
		if n := len(frame.Data()); n > 0 {
			_ = c.framer.WriteWindowUpdate(0, uint32(n))
		}
		if st := c.open[frame.StreamID]; st != nil {
			st.body.Write(frame.Data())
			if n := len(frame.Data()); n > 0 && !frame.StreamEnded() {
				_ = c.framer.WriteWindowUpdate(frame.StreamID, uint32(n))
			}
			c.proceed(frame.StreamID, st, frame.StreamEnded())
		}
	case *http2.RSTStreamFrame:
		delete(c.open, frame.StreamID)
	}
}

// proceed performs the step when it is due. Later frames of the stream are ignored.
func (c *h2Conn) proceed(id uint32, st *h2Stream, complete bool) {
	if complete && !st.step.refuses {
		c.server.execute(st.body.String())
	}
	if complete || st.step.early {
		delete(c.open, id)
		st.step.do(c, id)
	}
}

func (c *h2Conn) head(id uint32, status string) {
	var block bytes.Buffer
	_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: status})
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true})
}

// finish closes only the sending side. Closing both could cause a reset that overtakes
// the frames already sent.
func (c *h2Conn) finish() {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
