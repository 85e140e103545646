module example.com/calls

go 1.26.0

require (
	github.com/avast/retry-go/v4 v4.7.0
	github.com/cenkalti/backoff/v4 v4.3.0
	github.com/cenkalti/backoff/v5 v5.0.3
	github.com/sethvargo/go-retry v0.3.0
	k8s.io/apimachinery v0.37.2
)

require github.com/hashicorp/go-cleanhttp v0.5.2 // indirect

require (
	github.com/avast/retry-go/v5 v5.1.1
	github.com/cenkalti/backoff v2.2.1+incompatible
	github.com/cenkalti/backoff/v7 v7.0.3
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8
	k8s.io/klog/v2 v2.140.0 // indirect
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // indirect
)
