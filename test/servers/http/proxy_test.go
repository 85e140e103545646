package http_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
)

// program returns the path of a program, or skips the test. With CI=true the program is
// required, because .ci/run installs it.
func program(t *testing.T, name string) string {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	require.NotEqual(t, "true", os.Getenv("CI"), "%s is not installed", name)
	t.Skipf("%s is not installed", name)
	return ""
}

// serve starts a server and waits until it accepts connections.
func serve(t *testing.T, address string, command ...string) {
	var log bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &log, &log, time.Second
	endWithTest(cmd)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // so that it also stops its workers
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	require.Eventually(t, func() bool { return listens(address) }, time.Minute, 10*time.Millisecond, "%s does not listen", command[0])
}

func listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func configuration(t *testing.T, text string) string {
	name := filepath.Join(t.TempDir(), "conf")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// nginx runs nginx with the directives in its server block, using HTTP/2 or HTTP/1.1
// without TLS, and returns its address.
func nginx(t *testing.T, protocol, directives string) string {
	path, address, dir := program(t, "nginx"), freeAddress(t), t.TempDir()
	option := ""
	if protocol == "HTTP/2" {
		option = " http2"
	}
	name := configuration(t, fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events { worker_connections 1024; }
http {
	access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	server { listen %[2]s%[3]s; %[4]s }
}
`, dir, address, option, directives))
	serve(t, address, path, "-c", name)
	return address
}

// haproxy runs HAProxy in front of a backend and returns its address. Clients use
// HTTP/2 or HTTP/1.1 without TLS; the backend uses HTTP/1.1.
func haproxy(t *testing.T, protocol, backend string) string {
	path, address := program(t, "haproxy"), freeAddress(t)
	option := ""
	if protocol == "HTTP/2" {
		option = " proto h2"
	}
	name := configuration(t, fmt.Sprintf(`defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	http-reuse always
frontend front
	bind %s%s
	default_backend back
backend back
	server one %s
`, address, option, backend))
	serve(t, address, path, "-db", "-f", name)
	return address
}

// counter is a proxy that terminates TLS and counts requests: HTTP/2 HEADERS frames
// and HTTP/1.1 requests without a body.
type counter struct {
	url      string
	tls      *tls.Config // for clients
	headers  atomic.Int64
	conns    atomic.Int64
	protocol string
	wg       sync.WaitGroup
	mu       sync.Mutex
	open     []net.Conn
}

func newCounter(t *testing.T, protocol, target string) *counter {
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	next := map[string]string{"HTTP/2": "h2", "HTTP/1.1": "http/1.1"}[protocol]
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{next}})
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	c := &counter{
		url: "https://" + listener.Addr().String(), protocol: protocol,
		tls: &tls.Config{RootCAs: roots, ServerName: "example.com"},
	}
	c.wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.conns.Add(1)
			c.mu.Lock()
			c.open = append(c.open, conn)
			c.mu.Unlock()
			c.wg.Go(func() { c.relay(conn, target) })
		}
	})
	t.Cleanup(func() {
		assert.NoError(t, listener.Close())
		c.mu.Lock()
		for _, conn := range c.open { // net/http may have opened more connections than it uses
			_ = conn.Close()
		}
		c.mu.Unlock()
		c.wg.Wait()
	})
	return c
}

func (c *counter) relay(client net.Conn, target string) {
	defer client.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(client, server)
		_ = client.(*tls.Conn).CloseWrite()
		_ = client.SetReadDeadline(time.Now().Add(time.Second))
	}()
	seen, look := io.Pipe()
	go c.count(seen)
	_, _ = io.Copy(io.MultiWriter(look, server), client)
	_ = look.Close()
	_ = server.Close()
	<-done
}

func (c *counter) count(r *io.PipeReader) {
	defer io.Copy(io.Discard, r)
	if c.protocol == "HTTP/1.1" {
		var last [4]byte
		one := make([]byte, 1)
		for {
			if _, err := r.Read(one); err != nil {
				return
			}
			if copy(last[:], append(last[1:], one...)); string(last[:]) == "\r\n\r\n" {
				c.headers.Add(1)
			}
		}
	}
	if _, err := io.CopyN(io.Discard, r, int64(len(http2.ClientPreface))); err != nil {
		return
	}
	var head [9]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		if http2.FrameType(head[3]) == http2.FrameHeaders {
			c.headers.Add(1)
		}
		if _, err := io.CopyN(io.Discard, r, int64(binary.BigEndian.Uint32(head[:4])>>8)); err != nil {
			return
		}
	}
}

func (c *counter) transport(t *testing.T) *http.Transport {
	base := &http.Transport{TLSClientConfig: c.tls.Clone(), ForceAttemptHTTP2: c.protocol == "HTTP/2", MaxIdleConnsPerHost: 50}
	t.Cleanup(base.CloseIdleConnections)
	return base
}

// executions is a backend that counts how often it executes each method and path. A
// faulty backend executes every request, too, but for one in four it closes the
// connection instead of responding.
type executions struct {
	*httptest.Server
	mu    sync.Mutex
	count map[string]int
	total int
}

func newExecutions(t *testing.T, faulty bool) *executions {
	e := &executions{count: map[string]int{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, _ := io.Copy(io.Discard, r.Body); n == 0 {
			assert.Empty(t, r.TransferEncoding, "%s without a body", r.Method)
		}
		if n := e.execute(r); faulty && n%4 == 3 {
			drop(w, false)
			return
		}
		_, _ = io.WriteString(w, "done")
	}))
	t.Cleanup(e.Close)
	return e
}

// execute returns the number of executions.
func (e *executions) execute(r *http.Request) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count[r.Method+r.URL.Path]++
	e.total++
	return e.total
}

func (e *executions) all() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.total
}

func (e *executions) address() string { return strings.TrimPrefix(e.URL, "http://") }

func (e *executions) twice() (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, count := range e.count {
		if count > 1 {
			n++
		}
	}
	return n
}
