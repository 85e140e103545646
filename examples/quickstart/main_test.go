//go:build !js

package main

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrytest"
)

// memory is a network in memory, with the address that the output shows.
type memory struct{ *memnet.Network }

func (memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func play(t *testing.T, random func() float64) (string, error) {
	t.Helper()
	var out strings.Builder
	listener := memory{memnet.New()}
	err := run(t.Context(), &out, listener, listener.Dial, random)
	return out.String(), err
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, err := play(t, retrytest.Fixed(0.5))
		require.NoError(t, err)
		var lines []string
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "  attempt") {
				lines = append(lines, strings.Join(strings.Fields(line), " "))
			}
		}
		assert.Equal(t, []string{
			"1 0s 429 Too Many Requests, asks for 1s throttled wait 1s",
			"2 1s 200 OK - done",
			"=> 5 messages",
			"1 0s 503 Service Unavailable transient wait 25ms",
			"2 25ms 503 Service Unavailable transient wait 50ms",
			"3 75ms 503 Service Unavailable transient all attempts used",
			"=> gave up after 3 attempts (all attempts used): 503 Service Unavailable",
			"1 0s 404 Not Found permanent permanent failure",
			"=> 404 Not Found",
			"1 0s connection lost transient not safe to repeat",
			`=> Post "http://127.0.0.1:80/order": gave up after 1 attempt (not safe to repeat): EOF (no Idempotency-Key)`,
			"1 0s connection lost transient wait 25ms",
			"2 25ms 200 OK - done",
			"=> order 1 was taken, and this is its first answer again",
			"=> 100 calls failed, and the server got 300 requests",
			"=> 100 calls failed, and the server got 135 requests",
		}, lines[:len(lines)-1])
		assert.Regexp(t, `^=> 429 Too Many Requests, Retry-After: [1-5]$`, lines[len(lines)-1])
	})
}

// TestCode: the program shows the source code of each scene.
func TestCode(t *testing.T) {
	for _, scene := range scenes {
		assert.Contains(t, code(scene.name), "\treturn ", scene.name)
	}
}

// TestDuration: even with the longest delays, the program ends within ten seconds.
func TestDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := play(t, retrytest.Fixed(1-0x1p-53))
		require.NoError(t, err)
		assert.Less(t, time.Since(start), 10*time.Second)
	})
}

func TestUnexpectedEnd(t *testing.T) {
	before := scenes[1].ends
	defer func() { scenes[1].ends = before }()
	scenes[1].ends = "something else"
	synctest.Test(t, func(t *testing.T) {
		_, err := play(t, retrytest.Fixed(0.5))
		assert.ErrorContains(t, err, `scene 2, givesUp: "gave up after 3 attempts`)
	})
}
