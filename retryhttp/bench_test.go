package retryhttp_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhttp"
)

type stub struct{ response *http.Response }

func (s stub) RoundTrip(*http.Request) (*http.Response, error) { return s.response, nil }

func BenchmarkSuccess(b *testing.B) {
	base := stub{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}}
	for _, bench := range []struct {
		name      string
		transport http.RoundTripper
	}{
		{"base", base},
		{"Transport", &retryhttp.Transport{Base: base}},
		{"Transport,PerHost", &retryhttp.Transport{Base: base, PerHost: &retryhttp.PerHost{}}},
		{"Transport,PerScope", &retryhttp.Transport{Base: base, PerScope: &retryhttp.PerScope{}}},
		{"Transport,Sign", &retryhttp.Transport{Base: base, Sign: numbered}},
		{"Transport,Budget", &retryhttp.Transport{Base: base, Policy: retry.Policy{Budget: &awspreset.TokenBudget{}}}},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			req, err := http.NewRequest(method, "http://host/", bytes.NewReader(make([]byte, 100)))
			require.NoError(b, err)
			if method == http.MethodGet {
				req.Body, req.GetBody = nil, nil
			}
			b.Run("by="+bench.name+"/method="+method, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := bench.transport.RoundTrip(req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The field most is the maximum number of allocations that a Transport may add.
var realCases = []struct {
	name, method, content string
	most                  float64
}{
	{"GET", http.MethodGet, "", 5},
	{"PUT with body", http.MethodPut, "content", 3},
	{"POST", http.MethodPost, "", 6},
	{"POST with body", http.MethodPost, "content", 7},
}

func realServer(tb testing.TB, protocol string) (string, *http.Transport) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	server.EnableHTTP2 = protocol == http2
	if server.StartTLS(); protocol == http1 {
		server.Close()
		server = httptest.NewServer(server.Config.Handler)
	}
	tb.Cleanup(server.Close)
	base := server.Client().Transport.(*http.Transport)
	return server.URL, base
}

func sendReal(tb testing.TB, rt http.RoundTripper, req *http.Request) {
	if req.GetBody != nil {
		req.Body, _ = req.GetBody()
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

func BenchmarkConnection(b *testing.B) {
	for _, protocol := range []string{http1, http2} {
		url, base := realServer(b, protocol)
		for _, c := range realCases {
			req, err := http.NewRequestWithContext(b.Context(), c.method, url, strings.NewReader(c.content))
			require.NoError(b, err)
			for _, by := range []struct {
				name string
				rt   http.RoundTripper
			}{{"base", base}, {"Transport", &retryhttp.Transport{Base: base}}} {
				b.Run("protocol="+protocol+"/request="+c.name+"/by="+by.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						sendReal(b, by.rt, req)
					}
				})
			}
		}
	}
}

// TestConnectionAllocations compares means over many requests, because the server
// allocates in the same process.
func TestConnectionAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("allocations differ")
	}
	for _, protocol := range []string{http1, http2} {
		url, base := realServer(t, protocol)
		for _, c := range realCases {
			t.Run(protocol+"/"+c.name, func(t *testing.T) {
				req, err := http.NewRequestWithContext(t.Context(), c.method, url, strings.NewReader(c.content))
				require.NoError(t, err)
				req.Header.Set("Accept", "text/plain")
				bare := testing.AllocsPerRun(500, func() { sendReal(t, base, req) })
				transport := &retryhttp.Transport{Base: base}
				with := testing.AllocsPerRun(500, func() { sendReal(t, transport, req) })
				t.Logf("%v more than %v", with-bare, bare)
				assert.LessOrEqual(t, with-bare, c.most)
			})
		}
	}
}

// TestAllocations: a call allocates its request and the context of its attempt.
func TestAllocations(t *testing.T) {
	transport := retryhttp.Transport{Base: stub{&http.Response{StatusCode: 200, Body: http.NoBody}}, PerHost: &retryhttp.PerHost{}}
	for _, req := range []*http.Request{request(t, "GET", ""), request(t, "PUT", "content")} {
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := transport.RoundTrip(req); err != nil {
				panic(err)
			}
		})
		assert.LessOrEqual(t, allocs, 2., req.Method)
	}
}
