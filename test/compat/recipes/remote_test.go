package recipes

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/elastic/elastic-transport-go/v8/elastictransport"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/gobackoff/retry"
)

// failing returns the URL and the request count of a server that fails the first
// requests.
func failing(t *testing.T, times int64, status int, body string) (string, *atomic.Int64) {
	t.Helper()
	var hits atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if hits.Add(1) <= times {
			w.WriteHeader(status)
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL, &hits
}

func TestConnect(t *testing.T) {
	policy := quick
	policy.Classifier = retry.ClassifierFunc(connectVerdict)
	for name, tt := range map[string]struct {
		options []connect.ClientOption
		fails   connect.Code
		hits    int64
	}{
		"Connect":   {nil, connect.CodeUnavailable, 3},
		"gRPC-Web":  {[]connect.ClientOption{connect.WithGRPCWeb()}, connect.CodeResourceExhausted, 3},
		"permanent": {nil, connect.CodeInvalidArgument, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var hits atomic.Int64
			const procedure = "/service/Method"
			mux := http.NewServeMux()
			mux.Handle(procedure, connect.NewUnaryHandler(procedure, func(context.Context, *connect.Request[emptypb.Empty]) (*connect.Response[emptypb.Empty], error) {
				if hits.Add(1) < 3 {
					return nil, connect.NewError(tt.fails, errOp)
				}
				return connect.NewResponse(&emptypb.Empty{}), nil
			}))
			s := httptest.NewServer(mux)
			defer s.Close()
			client := connect.NewClient[emptypb.Empty, emptypb.Empty](http.DefaultClient, s.URL+procedure,
				append(tt.options, connect.WithInterceptors(RetryInterceptor(policy)))...)
			_, err := client.CallUnary(t.Context(), connect.NewRequest(&emptypb.Empty{}))
			if tt.hits == 3 {
				assert.NoError(t, err)
			} else {
				assert.Equal(t, tt.fails, connect.CodeOf(err))
			}
			assert.Equal(t, tt.hits, hits.Load())
		})
	}
}

func TestKafkaOptions(t *testing.T) {
	client, err := kgo.NewClient(KafkaOptions(quick)...)
	require.NoError(t, err)
	defer client.Close()
	delay, ok := client.OptValue(kgo.RetryBackoffFn).(func(int) time.Duration)
	require.True(t, ok)
	assert.Equal(t, 2*time.Millisecond, delay(2))
	assert.EqualValues(t, 3, client.OptValue(kgo.RequestRetries))
}

func TestElastic(t *testing.T) {
	for _, status := range []int{429, 503} {
		address, hits := failing(t, 2, status, "{}")
		node, err := url.Parse(address)
		require.NoError(t, err)
		transport, err := elastictransport.NewClient(append(ElasticOptions(quick), elastictransport.WithURLs(node))...)
		require.NoError(t, err)
		req, err := http.NewRequest("POST", "/_search", strings.NewReader("{}"))
		require.NoError(t, err)
		resp, err := transport.Perform(req)
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
		assert.EqualValues(t, 3, hits.Load())
	}
}

func TestAzure(t *testing.T) {
	address, hits := failing(t, 99, 503, "")
	options := AzureOptions(quick)
	pipeline := azruntime.NewPipeline("module", "v1.0.0", azruntime.PipelineOptions{}, (*azpolicy.ClientOptions)(&options))
	req, err := azruntime.NewRequest(t.Context(), http.MethodGet, address)
	require.NoError(t, err)
	resp, err := pipeline.Do(req)
	require.NoError(t, err)
	assert.Equal(t, 503, resp.StatusCode)
	assert.EqualValues(t, 4, hits.Load(), "and not 16")
}

func TestResty(t *testing.T) {
	address, hits := failing(t, 2, 503, "body")
	resp, err := Resty(quick).R().Get(address)
	require.NoError(t, err)
	assert.Equal(t, "body", resp.String())
	assert.EqualValues(t, 3, hits.Load())
}
