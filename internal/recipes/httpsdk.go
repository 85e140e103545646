package recipes

import (
	"net/http"

	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/go-resty/resty/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// OpenAI retries through the transport and not by itself. Its requests are POSTs
// without a key that makes them idempotent: they are allowed to be repeated, because a
// completion that is paid for twice is better than none.
func OpenAI(policy retry.Policy, options ...option.RequestOption) openai.Client {
	transport := &retryhttp.Transport{Policy: policy, MayRepeat: func(*http.Request) bool { return true }}
	return openai.NewClient(append(options,
		option.WithHTTPClient(&http.Client{Transport: transport}),
		option.WithMaxRetries(0))...)
}

// AzureOptions are the ClientOptions that all clients of the Azure SDK take.
func AzureOptions(policy retry.Policy) azpolicy.ClientOptions {
	return azpolicy.ClientOptions{
		Transport: retryhttp.NewClient(policy),
		Retry:     azpolicy.RetryOptions{MaxRetries: -1}, // 0 means 3
	}
}

// Resty has a RetryCount of 0 unless it is told otherwise.
func Resty(policy retry.Policy) *resty.Client {
	return resty.New().SetTransport(&retryhttp.Transport{Policy: policy})
}
