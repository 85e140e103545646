//go:build !js

package main

import (
	"context"
	"flag"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/internal/memnet"
)

var long = flag.Bool("long", false, "run the test that simulates two servers for half a minute")

// TestWatch runs the example in virtual time.
func TestWatch(t *testing.T) {
	if !*long {
		t.Skip("simulates two servers for half a minute: see -long")
	}
	synctest.Test(t, func(t *testing.T) {
		networks := map[string]*memnet.Network{"without:80": memnet.New(), "with:80": memnet.New()}
		for name, network := range networks {
			server := &http.Server{Handler: newHandler(name == "with:80")}
			go server.Serve(network)
			defer network.Close()
		}
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			return networks[address].Dial(ctx, network, address)
		}
		crowds := [2]*crowd{newCrowd(dial, "without"), newCrowd(dial, "with")}
		var out strings.Builder
		watch(t.Context(), &out, crowds)
		t.Log("\n" + out.String())
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		assert.Len(t, lines, 33)
		time.Sleep(time.Minute) // the servers finish what nobody waits for
		for _, c := range crowds {
			c.client.CloseIdleConnections()
		}
		without, with := crowds[0].all, crowds[1].all
		assert.Less(t, float64(without[0])/float64(without[1]), 0.5)
		assert.Greater(t, float64(with[0])/float64(with[1]), 0.99)
	})
}
