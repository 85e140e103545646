package recipes

import (
	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/go-resty/resty/v2"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

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
