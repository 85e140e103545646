//go:build unix

package connections

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/eclipse/paho.golang/paho"
	"github.com/jackc/pgx/v5"
	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrykeep"
	"github.com/gobackoff/retry/test/testserver"
)

var postgres = testserver.Postgres(func(ctx context.Context, addr string) error {
	conn, err := pgx.Connect(ctx, testserver.PostgresURL(addr))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
})

func TestMain(m *testing.M) {
	code := m.Run()
	postgres.Clean()
	os.Exit(code)
}

// soon returns a Keeper that waits for milliseconds.
func soon() *retrykeep.Keeper {
	return &retrykeep.Keeper{
		Policy: retry.Policy{Backoff: retry.Constant(10 * time.Millisecond), AttemptTimeout: 10 * time.Second},
		Useful: time.Nanosecond,
		Spread: -1,
	}
}

// keep runs a session until the test ends.
func keep(t *testing.T, k *retrykeep.Keeper, session func(context.Context, func()) error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx, session) }()
	t.Cleanup(func() {
		cancel()
		assert.ErrorIs(t, <-ended, context.Canceled)
	})
}

func next(t *testing.T, messages <-chan string) string {
	t.Helper()
	select {
	case m := <-messages:
		return m
	case <-time.After(time.Minute):
		require.Fail(t, "no message")
		return ""
	}
}

// TestThrownOut: a server that accepts its clients, greets them and closes the connection is
// called less and less often. One whose connections live for ten minutes is called again soon.
func TestThrownOut(t *testing.T) {
	for name, tt := range map[string]struct {
		life        time.Duration
		least, most int // connections in an hour
	}{
		"at once":           {20 * time.Millisecond, 90, 200},
		"after ten minutes": {10 * time.Minute, 6, 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				network, connections := memnet.New(), 0
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					connections++
					conn, err := websocket.Accept(w, req, nil)
					if err != nil {
						return
					}
					defer func() { _ = conn.CloseNow() }()
					_ = conn.Write(req.Context(), websocket.MessageText, []byte("welcome"))
					_ = retry.SystemClock{}.Sleep(conn.CloseRead(ctx), tt.life)
				})}
				go func() { _ = server.Serve(network) }()
				defer func() { _ = server.Close() }()
				transport := &http.Transport{DialContext: network.Dial}
				defer transport.CloseIdleConnections()
				options := &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}
				err := new(retrykeep.Keeper).Run(ctx, WebSocket("http://server", options, func([]byte) {}))
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.GreaterOrEqual(t, connections, tt.least)
				assert.LessOrEqual(t, connections, tt.most)
			})
		})
	}
}

// TestWebSocketAfterChange: after a change of the network, a connection whose server still answers
// stays. Any other is made again.
func TestWebSocketAfterChange(t *testing.T) {
	for name, answers := range map[string]bool{"the server answers": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				network := memnet.New()
				var mu sync.Mutex
				var connected []time.Time
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					mu.Lock()
					connected = append(connected, time.Now())
					n := len(connected)
					mu.Unlock()
					conn, err := websocket.Accept(w, req, nil)
					if err != nil {
						return
					}
					defer func() { _ = conn.CloseNow() }()
					if answers || n > 1 {
						conn.CloseRead(ctx)
					}
					<-ctx.Done()
				})}
				go func() { _ = server.Serve(network) }()
				defer func() { _ = server.Close() }()
				transport := &http.Transport{DialContext: network.Dial}
				defer transport.CloseIdleConnections()
				options := &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}
				k := &retrykeep.Keeper{}
				begun := time.Now()
				go func() {
					time.Sleep(10 * time.Second)
					k.Reconnect()
					time.Sleep(10 * time.Second)
					cancel()
				}()
				err := k.Run(ctx, WebSocket("http://server", options, func([]byte) {}))
				assert.ErrorIs(t, err, context.Canceled)
				mu.Lock()
				defer mu.Unlock()
				if answers {
					assert.Len(t, connected, 1)
					return
				}
				require.Len(t, connected, 2)
				assert.Equal(t, 15*time.Second, connected[1].Sub(begun))
			})
		})
	}
}

// TestWebSocket: broken connections are replaced.
func TestWebSocket(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		n := requests.Add(1)
		if n == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		conn, err := websocket.Accept(w, req, nil)
		if err != nil {
			return
		}
		_ = conn.Write(req.Context(), websocket.MessageText, fmt.Append(nil, n))
		_ = conn.Close(websocket.StatusGoingAway, "")
	}))
	t.Cleanup(server.Close)
	messages := make(chan string, 1000)
	keep(t, soon(), WebSocket(server.URL, nil, func(m []byte) {
		select {
		case messages <- string(m):
		default:
		}
	}))
	for _, want := range []string{"1", "3", "4"} {
		assert.Equal(t, want, next(t, messages))
	}
}

// TestHangs: a server that accepts connections and says nothing costs AttemptTimeout, not the
// life of the client.
func TestHangs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	accepted := make(chan string, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			accepted <- "connection"
		}
	}()
	addr := listener.Addr().String()
	for name, session := range map[string]func(context.Context, func()) error{
		"WebSocket": WebSocket("http://"+addr, nil, func([]byte) {}),
		"MQTT":      MQTT(addr, "id", "topic", func(*paho.Publish) {}),
		"events":    Events(http.DefaultClient, "http://"+addr, time.Minute, func(Event) {}),
		"LISTEN":    Listen(testserver.PostgresURL(addr), "jobs", func(string) {}),
	} {
		t.Run(name, func(t *testing.T) {
			k := soon()
			k.Policy.AttemptTimeout = 20 * time.Millisecond
			keep(t, k, session)
			for range 3 {
				next(t, accepted)
			}
			assert.NotEqual(t, retrykeep.Connected, k.State().Phase)
		})
	}
}

// TestEvents: a stream goes on after the last event that was complete.
func TestEvents(t *testing.T) {
	var mu sync.Mutex
	var ids []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		ids = append(ids, req.Header.Get("Last-Event-ID"))
		n := len(ids)
		mu.Unlock()
		switch n {
		case 1:
			fmt.Fprint(w, "retry: 30\nid: a\ndata: one\n\nid: b\ndata: cut")
		case 2:
			fmt.Fprint(w, ": comment\n\nid: c\ndata: two\ndata: lines\n\n")
			w.(http.Flusher).Flush()
			<-req.Context().Done() // silent, until the client leaves
		case 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer server.Close()
	k := soon()
	var waits []time.Duration
	k.Policy.OnRetry = func(_ context.Context, _ retry.Attempt, wait time.Duration) { waits = append(waits, wait) }
	var events []string
	err := k.Run(t.Context(), Events(&http.Client{}, server.URL, 100*time.Millisecond, func(e Event) { events = append(events, e.Data) }))
	assert.ErrorIs(t, err, errNoContent)
	assert.Equal(t, []string{"one", "two\nlines"}, events)
	assert.Equal(t, []string{"", "a", "c", "c"}, ids)
	require.Len(t, waits, 3)
	assert.GreaterOrEqual(t, waits[0], 30*time.Millisecond, "the field retry")
}

// TestLongEvent: an event that is too long ends neither the session nor the stream.
func TestLongEvent(t *testing.T) {
	long := strings.Repeat("x", 3*maxEvent)
	connections := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connections++
		if connections > 1 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		fmt.Fprintf(w, "id: a\ndata: %s\n\nid: b\ndata: %s\ndata: %[2]s\n\nid: c\r\ndata: next\r\n\r\n", long, long[:maxEvent/2+1])
	}))
	defer server.Close()
	var events []Event
	err := soon().Run(t.Context(), Events(&http.Client{}, server.URL, time.Minute, func(e Event) { events = append(events, e) }))
	assert.ErrorIs(t, err, errNoContent)
	require.Len(t, events, 3)
	assert.Equal(t, Event{ID: "c", Data: "next"}, events[2])
	for i, id := range []string{"a", "b"} {
		assert.Equal(t, id, events[i].ID)
		assert.True(t, events[i].Cut)
		assert.True(t, strings.HasPrefix(long, events[i].Data))
		assert.Greater(t, len(events[i].Data), maxEvent/3)
	}
}

// TestSlowHandler: a handler that needs longer than the limit of silence, or than the answer to a
// ping, does not end the connection.
func TestSlowHandler(t *testing.T) {
	for name, open := range map[string]func(client *http.Client, handle func()) func(context.Context, func()) error{
		"events": func(client *http.Client, handle func()) func(context.Context, func()) error {
			return Events(client, "http://server/events", time.Hour, func(Event) { handle() })
		},
		"WebSocket": func(client *http.Client, handle func()) func(context.Context, func()) error {
			return WebSocket("http://server/socket", &websocket.DialOptions{HTTPClient: client}, func([]byte) { handle() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, connections := memnet.New(), 0
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					connections++
					if req.URL.Path == "/events" {
						fmt.Fprint(w, "data: one\n\ndata: two\n\n")
						w.(http.Flusher).Flush()
						<-req.Context().Done()
						return
					}
					conn, err := websocket.Accept(w, req, nil)
					if err != nil {
						return
					}
					defer func() { _ = conn.CloseNow() }()
					_ = conn.Write(req.Context(), websocket.MessageText, []byte("one"))
					_ = conn.Write(req.Context(), websocket.MessageText, []byte("two"))
					<-conn.CloseRead(req.Context()).Done()
				})}
				go func() { _ = server.Serve(network) }()
				defer func() { _ = server.Close() }()
				transport := &http.Transport{DialContext: network.Dial}
				defer transport.CloseIdleConnections()
				ctx, cancel := context.WithCancel(t.Context())
				handled := 0
				_ = new(retrykeep.Keeper).Run(ctx, open(&http.Client{Transport: transport}, func() {
					time.Sleep(2 * time.Hour)
					handled++
					if handled == 2 {
						cancel()
					}
				}))
				assert.Equal(t, 2, handled)
				assert.Equal(t, 1, connections)
			})
		})
	}
}

// TestMQTT: a broker restarts. The client comes back and subscribes again.
func TestMQTT(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	start := func() *mqtt.Server {
		broker := mqtt.New(&mqtt.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, broker.AddHook(new(auth.AllowHook), nil))
		require.NoError(t, broker.AddListener(listeners.NewTCP(listeners.Config{ID: "tcp", Address: addr})))
		require.NoError(t, broker.Serve())
		return broker
	}
	broker := start()
	messages := make(chan string, 100)
	connected := make(chan string, 100)
	k := soon()
	k.OnChange = func(_ context.Context, s retrykeep.State) {
		if s.Phase == retrykeep.Connected {
			connected <- "connected"
		}
	}
	keep(t, k, MQTT(addr, "client", "jobs", func(p *paho.Publish) { messages <- string(p.Payload) }))
	next(t, connected)
	require.NoError(t, broker.Publish("jobs", []byte("first"), false, 1))
	assert.Equal(t, "first", next(t, messages))
	require.NoError(t, broker.Close())
	broker = start()
	t.Cleanup(func() { _ = broker.Close() })
	next(t, connected)
	require.NoError(t, broker.Publish("jobs", []byte("second"), false, 1))
	assert.Equal(t, "second", next(t, messages))
}

// TestListen: PostgreSQL ends the connection. The client listens again, and looks for what it
// has missed.
func TestListen(t *testing.T) {
	url := testserver.PostgresURL(postgres.Start(t))
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	messages := make(chan string, 100)
	keep(t, soon(), Listen(url, "jobs", func(payload string) { messages <- payload }))
	assert.Equal(t, "", next(t, messages), "look at the table")
	_, err = conn.Exec(t.Context(), "SELECT pg_notify('jobs', 'first')")
	require.NoError(t, err)
	assert.Equal(t, "first", next(t, messages))
	_, err = conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
	require.NoError(t, err)
	assert.Equal(t, "", next(t, messages), "look at the table")
	_, err = conn.Exec(t.Context(), "SELECT pg_notify('jobs', 'second')")
	require.NoError(t, err)
	assert.Equal(t, "second", next(t, messages))
}

// TestRefusedForGood: a password that is wrong ends the loop.
func TestRefusedForGood(t *testing.T) {
	url := testserver.PostgresURL(postgres.Start(t))
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	err = soon().Run(t.Context(), Listen("postgres://nobody@"+fmt.Sprintf("%s:%d", config.Host, config.Port)+"/postgres?sslmode=disable", "jobs", func(string) {}))
	assert.Error(t, err)
	_, gaveUp := errors.AsType[*retry.Error](err)
	assert.False(t, gaveUp, err)
}
