package migrate

import (
	"go/ast"
	"go/types"
	"slices"
)

// retryable returns the library github.com/hashicorp/go-retryablehttp. Its calls are left
// alone: what a client retries, and whether its requests may be repeated, is for a reader.
func retryable() *library {
	return &library{
		path: path(`github\.com/hashicorp/go-retryablehttp`),
		site: func(_ *rewriter, _ *ast.CallExpr, f *types.Func) *site {
			if f.Signature().Recv() != nil || !slices.Contains([]string{"NewClient", "Get", "Head", "Post", "PostForm"}, f.Name()) {
				return nil
			}
			s := &site{name: "retryablehttp." + f.Name()}
			s.fail("use an http.Client with a retryhttp.Transport")
			return s
		},
		advice: "RetryWaitMin, RetryWaitMax and RetryMax become Backoff and MaxAttempts of the Transport's Policy, CheckRetry its Classifier, " +
			"and a PassthroughErrorHandler is the default; see https://github.com/gobackoff/retry/blob/main/docs/migrating.md#hashicorpgo-retryablehttp",
	}
}
