package retryhttp_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryhttp"
)

// TestOuterRetries: below a client that retries, a Transport makes one attempt for each
// of the client's. A first attempt may be the only one, until a second has been seen.
func TestOuterRetries(t *testing.T) {
	const google = "gl-go/1.26.0 gccl/1.59.0 gccl-invocation-id/0f2b-44 gccl-attempt-count/"
	for _, tt := range []struct {
		name   string
		values []string
		sent   []int
		heard  []string
	}{
		{"Amz-Sdk-Request", []string{"attempt=1; max=3", "ttl=20261102T120000Z; attempt=2; max=3"}, []int{1, 1}, []string{"AWS SDK"}},
		{"Amz-Sdk-Request", []string{"attempt=1; max=1", "attempt=1"}, []int{3, 3}, nil},
		{"X-Stainless-Retry-Count", []string{"0", "0"}, []int{3, 3}, nil},
		{"X-Stainless-Retry-Count", []string{"0", "1", "2", "0"}, []int{3, 1, 1, 1}, []string{"Stainless SDK"}},
		{"X-Stainless-Retry-Count", []string{"many"}, []int{3}, nil},
		{"X-Goog-Api-Client", []string{google + "1", google + "1"}, []int{3, 3}, nil},
		{"X-Goog-Api-Client", []string{google + "1", google + "2", google + "1"}, []int{3, 1, 1}, []string{"Google Cloud Storage"}},
		{"X-Goog-Api-Client", []string{"gl-go/1.26.0 gdcl/0.260.0"}, []int{3}, nil},
	} {
		base, heard := &script{replies: []reply{{status: 503}}}, []string(nil)
		transport := &retryhttp.Transport{Base: base, Policy: quick(), OnOuterRetry: func(client string, req *http.Request) {
			assert.Equal(t, "/path", req.URL.Path)
			heard = append(heard, client)
		}}
		for i, value := range tt.values {
			base.requests = nil
			req := request(t, "GET", "")
			req.Header.Set(tt.name, value)
			_, err := transport.RoundTrip(req)
			require.NoError(t, err)
			assert.Len(t, base.requests, tt.sent[i], "%s: %s", tt.name, value)
		}
		assert.Equal(t, tt.heard, heard, "%s: %v", tt.name, tt.values)
	}
}

// TestOuterRetriesElsewhere: a client that was found to retry does so at each host. Another
// client of the same kind may not.
func TestOuterRetriesElsewhere(t *testing.T) {
	base := &script{replies: []reply{{status: 503}}}
	transport := &retryhttp.Transport{Base: base, Policy: quick()}
	send := func(host, agent, count string) int {
		base.requests = nil
		req := request(t, "GET", "")
		req.URL.Host = host
		req.Header.Set("User-Agent", agent)
		req.Header.Set("X-Stainless-Retry-Count", count)
		_, err := transport.RoundTrip(req)
		require.NoError(t, err)
		return len(base.requests)
	}
	const openAI, anthropic = "OpenAI/Go 3.96.0", "Anthropic/Go 1.84.0"
	assert.Equal(t, 3, send("a.example", openAI, "0"))
	assert.Equal(t, 1, send("a.example", openAI, "1"))
	assert.Equal(t, 1, send("b.example", openAI, "0"), "another host")
	assert.Equal(t, 3, send("b.example", anthropic, "0"), "another client")
	for n := range 100 {
		send("a.example", fmt.Sprint("Agent/", n), "1")
	}
	assert.Equal(t, 1, send("c.example", "Agent/0", "0"))
	assert.Equal(t, 3, send("c.example", "Agent/99", "0"), "more than 64 clients are not kept")
}

// TestOuterRetriesOfManyHosts: OnOuterRetry is called once for each kind of client, even
// if there are more hosts than the Transport remembers.
func TestOuterRetriesOfManyHosts(t *testing.T) {
	var heard []string
	transport := &retryhttp.Transport{
		Base:         &script{replies: []reply{{status: 200}}},
		OnOuterRetry: func(client string, _ *http.Request) { heard = append(heard, client) },
	}
	for i := range 3000 {
		req := request(t, "GET", "")
		req.URL.Host = fmt.Sprintf("bucket-%d.example", i)
		req.Header.Set("Amz-Sdk-Request", "attempt=1; max=3")
		_, err := transport.RoundTrip(req)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"AWS SDK"}, heard)
}
