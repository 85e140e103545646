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

// OpenAI returns a client whose transport retries, even POSTs: a completion may be paid
// for twice.
func OpenAI(policy retry.Policy, options ...option.RequestOption) openai.Client {
	transport := &retryhttp.Transport{Policy: policy, MayRepeat: func(*http.Request) bool { return true }}
	return openai.NewClient(append(options,
		option.WithHTTPClient(&http.Client{Transport: transport}),
		option.WithMaxRetries(0))...)
}

// AzureOptions returns the ClientOptions for all clients of the Azure SDK.
func AzureOptions(policy retry.Policy) azpolicy.ClientOptions {
	return azpolicy.ClientOptions{
		Transport: retryhttp.NewClient(policy),
		Retry:     azpolicy.RetryOptions{MaxRetries: -1}, // 0 means 3
	}
}

// Resty returns a client whose transport retries.
func Resty(policy retry.Policy) *resty.Client {
	return resty.New().SetTransport(&retryhttp.Transport{Policy: policy})
}
