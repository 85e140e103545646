package connections

import (
	"context"
	"fmt"
	"net"

	"github.com/eclipse/paho.golang/paho"

	"github.com/gobackoff/retry"
)

// MQTT returns a session of MQTT 5 that subscribes to a topic. The broker keeps the
// subscription's messages for an hour while the client is away. The keep-alive notices a dead
// connection.
//
// The message is acknowledged when handle returns: MQTT has no other answer to a message while the
// connection lasts. So a handler that cannot do its work stores the message.
func MQTT(addr, clientID, topic string, handle func(*paho.Publish)) func(context.Context, func()) error {
	return func(ctx context.Context, up func()) error {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer conn.Close()
		ended := make(chan error, 1)
		end := func(err error) {
			select {
			case ended <- err:
			default: // the first reason counts
			}
		}
		client := paho.NewClient(paho.ClientConfig{
			Conn:     conn,
			ClientID: clientID,
			OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
				handle(p.Packet)
				return true, nil
			}},
			OnClientError:      end,
			OnServerDisconnect: func(d *paho.Disconnect) { end(fmt.Errorf("the broker disconnects: reason %d", d.ReasonCode)) },
		})
		expiry := uint32(3600)
		answer, err := client.Connect(ctx, &paho.Connect{
			ClientID: clientID, KeepAlive: 30, Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry},
		})
		if err != nil {
			if answer != nil && (answer.ReasonCode == 0x86 || answer.ReasonCode == 0x87) { // bad user name or password, not authorized
				return retry.Permanent(err)
			}
			return err
		}
		if _, err := client.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: topic, QoS: 1}}}); err != nil {
			return err
		}
		up()
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			_ = client.Disconnect(&paho.Disconnect{})
			return ctx.Err()
		}
	}
}
