//go:build unix

package connections

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retrykeep"
	"github.com/gobackoff/retry/test/testserver"
)

// withPortMapper starts RabbitMQ with a port mapper of its own, which ends with it.
const withPortMapper = `"$0" -address 127.0.0.1 -port "$ERL_EPMD_PORT" & mapper=$!
	"$1" & server=$!
	trap "kill -TERM $server" TERM
	wait $server; wait $server
	kill $mapper`

var rabbitmq = &testserver.Program{
	Name:   "RabbitMQ",
	Signal: "TERM",
	SetUp: func(_ *testserver.Program, dir string, port int) ([]string, error) {
		server, err := testserver.Find("rabbitmq-server", "/usr/lib/rabbitmq/bin", "/usr/sbin")
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(server, "/usr/sbin") { // Debian's wrapper changes the user
			server = "/usr/lib/rabbitmq/bin/rabbitmq-server"
		}
		mapper, err := testserver.Find("epmd")
		if err != nil {
			return nil, err
		}
		return []string{
			"/usr/bin/env", "HOME=" + dir, "RABBITMQ_NODENAME=retry" + strconv.Itoa(port) + "@localhost",
			"RABBITMQ_MNESIA_BASE=" + filepath.Join(dir, "data"), "RABBITMQ_LOG_BASE=" + dir, "RABBITMQ_LOGS=-",
			"RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(dir, "plugins"), "RABBITMQ_CONF_ENV_FILE=/dev/null",
			"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", "RABBITMQ_NODE_PORT=" + strconv.Itoa(port),
			"RABBITMQ_DIST_PORT=" + strconv.Itoa(port+1), "ERL_EPMD_PORT=" + strconv.Itoa(port+2), "ERL_EPMD_ADDRESS=127.0.0.1",
			"/bin/sh", "-c", withPortMapper, mapper, server,
		}, nil
	},
	Ready: func(_ context.Context, addr string) error {
		conn, err := amqp.DialConfig(amqpURL(addr), amqp.Config{})
		if err != nil {
			return err
		}
		return conn.Close()
	},
}

func amqpURL(addr string) string { return "amqp://guest:guest@" + addr + "/" }

// TestAMQP: a broker restarts. The client consumes again, and a message that it did not
// acknowledge is delivered again.
func TestAMQP(t *testing.T) {
	addr := rabbitmq.Start(t)
	publish := func(text string) {
		conn, err := amqp.DialConfig(amqpURL(addr), amqp.Config{Dial: func(network, addr string) (net.Conn, error) { return net.Dial(network, addr) }})
		require.NoError(t, err)
		defer conn.Close()
		channel, err := conn.Channel()
		require.NoError(t, err)
		require.NoError(t, channel.Confirm(false))
		confirmed, err := channel.PublishWithDeferredConfirm("", "jobs", true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(text)})
		require.NoError(t, err)
		require.True(t, confirmed.Wait())
	}
	connected := make(chan string, 100)
	k := soon()
	k.OnChange = func(_ context.Context, s retrykeep.State) {
		if s.Phase == retrykeep.Connected {
			connected <- "connected"
		}
	}
	messages := make(chan string, 100)
	rejected := false
	keep(t, k, AMQP(amqpURL(addr), "jobs", func(d amqp.Delivery) error {
		messages <- string(d.Body)
		if !rejected {
			rejected = true
			return assert.AnError
		}
		return nil
	}))
	next(t, connected)
	publish("first")
	assert.Equal(t, "first", next(t, messages))
	assert.Equal(t, "first", next(t, messages), "was not acknowledged")
	next(t, connected)
	require.NoError(t, rabbitmq.Stop("TERM"))
	require.NoError(t, rabbitmq.Run())
	next(t, connected)
	publish("second")
	assert.Equal(t, "second", next(t, messages))
}
