package errfacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// safe has the method of pgx's errors.
type safe string

func (s safe) Error() string   { return string(s) }
func (safe) SafeToRetry() bool { return true }

// loop is an error that wraps itself.
type loop struct{}

func (*loop) Error() string   { return "loop" }
func (l *loop) Unwrap() error { return l }

// TestFates: nothing was sent only if every part of an error says so.
func TestFates(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	lost := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	said := &NotSent{errors.New("no token")}
	for _, tt := range []struct {
		name string
		err  error
		want Fate
	}{
		{"connection refused", dial, Unsent},
		{"wrapped", &url.Error{Op: "Post", URL: "http://x", Err: fmt.Errorf("call: %w", dial)}, Unsent},
		{"proxy", &net.OpError{Op: "proxyconnect", Err: io.EOF}, Unsent},
		{"refused by a proxy", &net.OpError{Op: "proxyconnect", Err: HTTPError{503}}, Unsent},
		{"SOCKS", &net.OpError{Op: "socks connect", Err: io.EOF}, Unsent},
		{"unknown host", &net.DNSError{}, Unsent},
		{"said", said, Unsent},
		{"said about a tree", &NotSent{errors.Join(io.EOF, io.EOF)}, Unsent},
		{"pgx before the statement", safe("conn busy"), Unsent},
		{"all", errors.Join(dial, said), Unsent},
		{"all of a pair", fmt.Errorf("%w: %w", said, dial), Unsent},

		{"lost", lost, Uncertain},
		{"pgx after the statement", safe("conn closed"), Uncertain},
		{"one of several", errors.Join(dial, lost), Uncertain},
		{"one of several, said", errors.Join(lost, said), Uncertain},
		{"one of a pair", fmt.Errorf("%w: %w", errors.New("call"), dial), Uncertain},
		{"unknown", errors.New("x"), Uncertain},
		{"nothing", nil, Uncertain},

		{"misdirected", HTTPError{421}, Unprocessed},
		{"another number", ownCode{421}, Answered},
		{"misdirected, said by a method", within{421, io.EOF}, Unprocessed},
		{"too early", within{425, io.EOF}, Unprocessed},
		{"answered", within{503, io.EOF}, Answered},
		{"a server could not connect", within{502, dial}, Answered},
	} {
		facts := Read(tt.err)
		assert.Equal(t, tt.want, facts.Fate(), tt.name)
	}
	assert.True(t, SaysUnsent(fmt.Errorf("call: %w", said)))
	assert.False(t, SaysUnsent(errors.Join(said, said)))
	assert.False(t, SaysUnsent(&loop{}))
}

// TestAs: like errors.AsType, but an error may wrap itself, and methods may panic.
func TestAs(t *testing.T) {
	lost := &net.OpError{Op: "read", Err: io.EOF}
	found, ok := As[*net.OpError](fmt.Errorf("call: %w", errors.Join(&loop{}, lost)))
	assert.False(t, ok, "after 256 errors")
	assert.Nil(t, found)
	found, ok = As[*net.OpError](fmt.Errorf("call: %w", errors.Join(lost, &loop{})))
	assert.True(t, ok)
	assert.Same(t, lost, found)
	converted, ok := As[*net.OpError](converts{lost})
	assert.True(t, ok)
	assert.Same(t, lost, converted)
	_, ok = As[*net.OpError](converts{nil})
	assert.False(t, ok)
	_, ok = As[*net.OpError](nil)
	assert.False(t, ok)
}

// converts is an error with a method As that panics if it is nil.
type converts struct{ to *net.OpError }

func (converts) Error() string { return "converts" }

func (c converts) As(target any) bool {
	if c.to == nil {
		panic("half-built")
	}
	*target.(**net.OpError) = c.to
	return true
}

// TestHandshakeTimeout: the request follows the handshake.
func TestHandshakeTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &http.Transport{
			TLSHandshakeTimeout: time.Second,
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				go func() { _, _ = io.Copy(io.Discard, server) }()
				return client, nil
			},
		}
		resp, err := (&http.Client{Transport: transport}).Post("https://h/", "", strings.NewReader("x"))
		if err == nil {
			_ = resp.Body.Close()
		}
		f := Read(err)
		assert.Equal(t, Unsent, f.Fate(), "%v", err)
		class, _ := f.Verdict()
		assert.Equal(t, TimedOut, class)
	})
}
