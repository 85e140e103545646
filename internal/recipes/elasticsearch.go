package recipes

import (
	"net/url"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// ElasticConfig lets the client of Elasticsearch retry by itself, with the policy's
// delays: its searches are POST requests, which package retryhttp does not repeat without
// being told that they may be. elasticsearch.Config and opensearch.Config have the same
// fields. The policy must have its MaxAttempts set.
func ElasticConfig(nodes []*url.URL, policy retry.Policy) elastictransport.Config {
	return elastictransport.Config{
		URLs:          nodes,
		RetryOnStatus: []int{429, 502, 503, 504},
		MaxRetries:    policy.MaxAttempts - 1,
		RetryBackoff:  adapt.OneBased(policy),
	}
}
