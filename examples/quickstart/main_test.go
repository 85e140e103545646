package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// TestRun runs the program on a virtual clock, so that its output is the same
// every time but for what a slow answer does.
func TestRun(t *testing.T) {
	var out strings.Builder
	clock := &retrytest.Clock{}
	// Only the slow answer uses this limit up. It is real time, and all other
	// answers have to arrive within it on a busy machine too.
	require.NoError(t, run(&out, settings{attemptTimeout: 250 * time.Millisecond, clock: clock, random: retrytest.Fixed(0.5)}))

	want := `GET /report, policy aws-js-v2
  1 0s 503 Service Unavailable transient wait 50ms
  2 50ms 429 Too Many Requests, asks for 1s throttled wait 100ms
  3 150ms 200 OK - done
  succeeded after 150ms: "42 rows"
GET /table, policy aws-botocore-legacy
  1 0s connection lost transient wait 500ms
  2 500ms 503 Service Unavailable transient wait 1s
  3 1.5s 200 OK - done
  succeeded after 1.5s: "3 columns"
GET /object, policy aws-java-v1 timeout=250ms
  1 0s no answer in time timeout wait 51ms
  2 51ms 429 Too Many Requests, asks for 1s throttled wait 750ms
  3 801ms 200 OK - done
  succeeded after 801ms: "1 byte"
GET /queue, policy full base=50ms cap=20s attempts=3 timeout=250ms
  1 0s 429 Too Many Requests, asks for 1s throttled wait 1s
  2 1s 200 OK - done
  succeeded after 1s: "5 messages"
GET /down, policy aws-java-v1
  1 0s 503 Service Unavailable transient wait 51ms
  2 51ms 503 Service Unavailable transient wait 101ms
  3 152ms 503 Service Unavailable transient wait 201ms
  4 353ms 503 Service Unavailable transient all attempts used
  failed after 353ms: gave up after 4 attempts in 353ms (all attempts used): 503 Service Unavailable
GET /nothing, policy aws-botocore-legacy
  1 0s 404 Not Found permanent permanent failure
  failed after 0s: 404 Not Found
The server saw 16 requests.
`
	got := regexp.MustCompile(`(?m)^  attempt .*\n|\n$`).ReplaceAllString(out.String(), "")
	got = regexp.MustCompile(`(\S) +`).ReplaceAllString(got, "$1 ")
	got = strings.ReplaceAll(got, "\n\n", "\n")
	assert.Equal(t, strings.TrimSpace(want), strings.TrimSpace(got))
}

// TestUnexpectedEnding: the program notices when a call ends otherwise than it ought to.
func TestUnexpectedEnding(t *testing.T) {
	server, err := startServer()
	require.NoError(t, err)
	defer server.close()
	policy := retry.Policy{Clock: &retrytest.Clock{}}
	for _, sc := range []scenario{
		{"/report", policy, givesUp},
		{"/down", policy, succeeds},
		{"/nothing", policy, givesUp},
	} {
		err := sc.call(&strings.Builder{}, newClient(), server.url)
		require.Error(t, err, sc.path)
		assert.NotContains(t, err.Error(), "%!", sc.path)
	}
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "99999999999999999999": 0, "0.5": 0,
	} {
		assert.Equal(t, want, (&statusError{429, header}).RetryAfter(), fmt.Sprintf("%q", header))
	}
}
