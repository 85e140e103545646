package repeat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// None of these adds after a failure.

func addsOnSuccess(ctx context.Context, p retry.Policy, load func(context.Context) (int, error)) (sum int, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		n, err := load(ctx)
		if err == nil {
			sum += n
		}
		return err
	})
	return sum, err
}

func addsInCase(ctx context.Context, p retry.Policy, create func(context.Context) error) (names []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		err := create(ctx)
		switch {
		case err == nil:
			names = append(names, "new")
			return nil
		case errors.Is(err, io.ErrShortWrite):
			return retry.Transient(err)
		}
		return err
	})
	return names, err
}

func sendsOrEnds(ctx context.Context, p retry.Policy, load func(context.Context) (int, error), out chan int) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		n, err := load(ctx)
		if err != nil {
			return err
		}
		select {
		case out <- n:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

func answersOnce(ctx context.Context, p retry.Policy, w http.ResponseWriter, open func(context.Context) (io.Reader, error)) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		content, err := open(ctx)
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, content); err != nil {
			return retry.Permanent(fmt.Errorf("the answer has begun: %w", err))
		}
		return nil
	})
}

func isBusy(err error) bool {
	status, ok := errors.AsType[*retryhttp.StatusError](err)
	return ok && status.HTTPStatusCode() == http.StatusTooManyRequests
}

func postsIfBusy(ctx context.Context, client *http.Client, order string) error {
	refused := retry.Policy{Classifier: retry.OnlyIf(isBusy)}
	return retry.Do(ctx, refused, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(order))
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return retryhttp.CheckStatus(resp)
	})
}

func givesBack(ctx context.Context, p retry.Policy, keys chan string, load func(context.Context, string) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		select {
		case key := <-keys:
			err := load(ctx, key)
			if err != nil {
				keys <- key
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}
