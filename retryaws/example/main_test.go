package main

import (
	"net"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrytest"
)

// memory is a network in memory, with the address of a server.
type memory struct{ *memnet.Network }

func (memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// eachMode runs test with both loops of the SDK.
func eachMode(t *testing.T, test func(*testing.T)) {
	for _, mode := range []string{"", "true"} {
		t.Run("AWS_NEW_RETRIES_2026="+mode, func(t *testing.T) {
			t.Setenv("AWS_NEW_RETRIES_2026", mode)
			synctest.Test(t, test)
		})
	}
}

func TestRun(t *testing.T) {
	want := `PutItem, policy aws-java-v2-standard-2.0 service=dynamodb, in the SDK's loop
  1 0s 0s 400 ThrottlingException
  2 500ms 500ms 503 ServiceUnavailable
  3 25ms 525ms connection lost
  4 50ms 575ms 200 OK
  succeeded after 575ms
GetItem, policy aws-standard-2.1 service=dynamodb timeout=300ms, instead of the SDK's loop
  1 0s 0s 400 ThrottlingException, asks for 400ms
  2 500ms 500ms no response in time
  3 25ms 825ms 200 OK
  succeeded after 825ms
DeleteItem, policy aws-botocore-legacy service=dynamodb, in the SDK's loop
  1 0s 0s 500 InternalServerError
  2 50ms 50ms connection lost
  3 100ms 150ms 400 ConditionalCheckFailedException
  failed after 150ms: ConditionalCheckFailedException
`
	eachMode(t, func(t *testing.T) {
		var out strings.Builder
		listener := memory{memnet.New()}
		require.NoError(t, run(&out, listener, listener.Dial, retrytest.Fixed(0.5)))

		got := regexp.MustCompile(`(?m)^  attempt .*\n`).ReplaceAllString(out.String(), "")
		got = regexp.MustCompile(`(\S) +`).ReplaceAllString(got, "$1 ")
		got = strings.ReplaceAll(got, "\n\n", "\n")
		assert.Equal(t, want, got)
	})
}

// TestDuration: even with the longest delays, the program ends within five seconds.
func TestDuration(t *testing.T) {
	eachMode(t, func(t *testing.T) {
		start := time.Now()
		listener := memory{memnet.New()}
		require.NoError(t, run(&strings.Builder{}, listener, listener.Dial, retrytest.Fixed(1-0x1p-53)))
		assert.Less(t, time.Since(start), 5*time.Second)
	})
}

func TestUnexpectedEnding(t *testing.T) {
	eachMode(t, func(t *testing.T) {
		listener := memory{memnet.New()}
		server := startServer(listener)
		defer server.close()
		for _, sc := range scenarios() {
			if sc.fails == "" {
				sc.fails = "AnotherException"
			} else {
				sc.fails = ""
			}
			err := sc.run(&strings.Builder{}, listener.Dial, "http://host")
			assert.ErrorContains(t, err, "want the error code")
			assert.NotContains(t, err.Error(), "%!")
		}
	})
}

func TestUnfitPolicy(t *testing.T) {
	sc := scenarios()[0]
	sc.policy.AttemptTimeout = time.Second
	assert.ErrorContains(t, sc.run(&strings.Builder{}, nil, ""), "AttemptTimeout")
}
