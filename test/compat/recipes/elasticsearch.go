package recipes

import (
	"github.com/elastic/elastic-transport-go/v8/elastictransport"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// ElasticOptions makes an Elasticsearch client retry with the policy's delays.
func ElasticOptions(policy retry.Policy) []elastictransport.Option {
	return []elastictransport.Option{
		elastictransport.WithRetry(policy.MaxAttempts-1, 429, 502, 503, 504),
		elastictransport.WithRetryBackoff(adapt.OneBased(policy)),
	}
}
