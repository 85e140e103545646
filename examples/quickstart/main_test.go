package main

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retrytest"
)

// memory is a listener whose connections are pipes, so client and server can share a
// synctest bubble, in which waits take no time.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func listenInMemory() *memory {
	m := &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
	m.close = sync.OnceFunc(func() { close(m.closed) })
	return m
}

func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
func (m *memory) Close() error   { m.close(); return nil }

func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	m.conns <- server
	return client, nil
}

func TestRun(t *testing.T) {
	want := `GET /queue, policy standard attempts=3 timeout=300ms: the default policy waits as long as the server asks
  1 0s 429 Too Many Requests, asks for 1s throttled wait 1s
  2 1s 200 OK - done
  succeeded after 1s: "5 messages"
GET /report, policy standard attempts=3 timeout=300ms: its waits are random, and longer after throttling
  1 0s 503 Service Unavailable transient wait 25ms
  2 25ms 429 Too Many Requests throttled wait 1s
  3 1.025s 200 OK - done
  succeeded after 1.025s: "42 rows"
GET /down, policy standard attempts=3 timeout=300ms: the error says why the call gave up, and the last failure
  1 0s 503 Service Unavailable transient wait 25ms
  2 25ms 503 Service Unavailable transient wait 50ms
  3 75ms 503 Service Unavailable transient all attempts used
  failed after 75ms: gave up after 3 attempts (all attempts used): 503 Service Unavailable
GET /nothing, policy standard attempts=3 timeout=300ms: a retry would not help, so there is none
  1 0s 404 Not Found permanent permanent failure
  failed after 0s: 404 Not Found
GET /again, policy aws-standard-2026: a preset waits as the AWS SDKs do since November 2026
  1 0s connection lost transient wait 25ms
  2 25ms 503 Service Unavailable transient wait 50ms
  3 75ms 200 OK - done
  succeeded after 75ms: "7 objects"
GET /table, policy aws-botocore-legacy: this one waits as boto3 did before, up to a second, then two
  1 0s connection lost transient wait 500ms
  2 500ms 503 Service Unavailable transient wait 1s
  3 1.5s 200 OK - done
  succeeded after 1.5s: "3 columns"
GET /object, policy aws-java-v1-legacy timeout=300ms: the SDK for Java v1 ignored what the server asks
  1 0s no response in time timeout wait 51ms
  2 351ms 429 Too Many Requests, asks for 1s throttled wait 750ms
  3 1.101s 200 OK - done
  succeeded after 1.101s: "1 byte"
The server saw 18 requests.
`
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		listener := listenInMemory()
		require.NoError(t, run(&out, listener, listener.dial, retrytest.Fixed(0.5)))

		got := regexp.MustCompile(`(?m)^  attempt .*\n`).ReplaceAllString(out.String(), "")
		got = regexp.MustCompile(`(\S) +`).ReplaceAllString(got, "$1 ")
		got = strings.ReplaceAll(got, "\n\n", "\n")
		assert.Equal(t, want, got)
	})
}

// TestDuration: even with the longest delays, the program ends within ten seconds.
func TestDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		listener := listenInMemory()
		require.NoError(t, run(&strings.Builder{}, listener, listener.dial, retrytest.Fixed(1-0x1p-53)))
		assert.Less(t, time.Since(start), 10*time.Second)
	})
}

func TestUnexpectedEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := listenInMemory()
		server := startServer(listener)
		defer server.close()
		for _, tt := range []struct {
			path string
			ends ending
			want string
		}{
			{"/report", givesUp, "the call succeeds, want: gives up"},
			{"/down", succeeds, "the call gives up, want: succeeds: gave up after 3 attempts"},
			{"/nothing", givesUp, "the call stops at a permanent failure, want: gives up: 404 Not Found"},
		} {
			sc := scenario{path: tt.path, ends: tt.ends}
			err := sc.call(&strings.Builder{}, newClient(listener.dial), "http://host")
			assert.ErrorContains(t, err, tt.want)
			assert.NotContains(t, fmt.Sprint(err), "%!")
		}
	})
}
