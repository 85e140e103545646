package recipes

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/gobackoff/retry"
)

// FetchAll fetches all URLs, at most 10 at a time, each with its own retries.
func FetchAll(ctx context.Context, policy retry.Policy, urls []string, fetch func(context.Context, string) (string, error)) ([]string, error) {
	pages := make([]string, len(urls))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(10)
	for i, url := range urls {
		group.Go(func() (err error) {
			pages[i], err = retry.DoValue(ctx, policy, func(ctx context.Context) (string, error) { return fetch(ctx, url) })
			return err
		})
	}
	return pages, group.Wait()
}
