package recipes

import (
	"github.com/elastic/elastic-transport-go/v8/elastictransport"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// ElasticOptions let the client of Elasticsearch retry by itself, with the policy's
// delays: its searches are POST requests, which package retryhttp does not repeat without
// being told that they may be. The policy must have its MaxAttempts set.
func ElasticOptions(policy retry.Policy) []elastictransport.Option {
	return []elastictransport.Option{
		elastictransport.WithRetry(policy.MaxAttempts-1, 429, 502, 503, 504),
		elastictransport.WithRetryBackoff(adapt.OneBased(policy)),
	}
}
