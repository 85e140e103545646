package argument

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrykeep"
)

type entry struct{ ID int }

func (entry) valid() error { return nil }

var (
	errRefused = errors.New("refused")
	sentLast   []entry
	history    [][]entry
	client     = retryhttp.NewClient(retry.Policy{})
)

func stores(ctx context.Context, p retry.Policy, entries []entry, store func(context.Context, entry) error) {
	batch := retrybatch.Batch[entry]{Policy: p}
	_, _ = retrybatch.Do(ctx, batch, entries, func(ctx context.Context, part []entry) (map[int]error, error) {
		failed := map[int]error{}
		for _, e := range part {
			if err := store(ctx, e); err != nil {
				failed[e.ID] = err // want `retrybatch.Do takes e.ID for the index of an item in the batch: use the key of the range`
			}
		}
		return failed, nil
	})
	_, _ = retrybatch.Do(ctx, batch, entries, func(ctx context.Context, part []entry) (map[int]error, error) {
		failed, byID := map[int]error{}, map[int]error{}
		for i, e := range part {
			if err := store(ctx, e); err != nil {
				failed[i] = err
			}
		}
		_ = byID
		return failed, nil
	})
	_, _ = retrybatch.Do(ctx, batch, entries, func(ctx context.Context, part []entry) (map[int]error, error) {
		var all []error
		for _, e := range part {
			all = append(all, store(ctx, e))
		}
		return nil, errors.Join(all...) // want `this error is one of the whole call`
	})
	_, _ = retrybatch.Do(ctx, batch, entries, func(ctx context.Context, part []entry) (map[int]error, error) {
		for _, e := range part {
			if err := e.valid(); err != nil {
				return nil, retry.Permanent(err)
			}
		}
		for _, e := range part {
			if err := store(ctx, e); err != nil {
				return nil, err // want `this error is one of the whole call`
			}
		}
		return nil, nil
	})
	_, _ = retrybatch.Do(ctx, batch, entries, func(ctx context.Context, part []entry) (map[int]error, error) {
		sentLast = part                 // want `the function must not keep its batch`
		history = append(history, part) // want `the function must not keep its batch`
		sentLast = append(sentLast, part...)
		return nil, retry.Do(ctx, p, func(ctx context.Context) error { return store(ctx, part[0]) }) // want `retrybatch.Do retries what the function returns: make one request, without retries of its own`
	})
	_, _ = retrybatch.Do(ctx, batch, entries, func(ctx context.Context, part []entry) (map[int]error, error) {
		return nil, posts(client, part) // follows
	})
	_, _ = retrybatch.Do(ctx, batch, entries, func(context.Context, []entry) (map[int]error, error) { // want `the function ignores its second parameter`
		return nil, store(ctx, entry{}) // want `the function uses ctx instead of the context that retrybatch.Do gives it`
	})
}

func posts(client *http.Client, part []entry) error {
	resp, err := client.Post("https://example.com/", "text/plain", strings.NewReader(fmt.Sprint(part))) // want `retrybatch.Do retries what the function returns`
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}

func sessions(ctx context.Context, dial func(context.Context) error, receive func(context.Context) error) {
	keeper := &retrykeep.Keeper{}
	_ = keeper.Run(ctx, func(ctx context.Context, up func()) error {
		defer up() // want `up is called when the session has ended: call it when the connection works`
		return dial(ctx)
	})
	_ = keeper.Run(ctx, func(ctx context.Context, up func()) error {
		up() // want `nothing is connected yet, so each failure counts as a connection`
		if err := dial(ctx); err != nil {
			return err
		}
		return receive(ctx)
	})
	_ = keeper.Run(ctx, func(ctx context.Context, up func()) error {
		if err := dial(ctx); err != nil {
			return err
		}
		up()
		go receive(ctx)
		return nil // want `the session ends when it returns, and its context with it`
	})
	_ = keeper.Run(ctx, func(ctx context.Context, up func()) error {
		if err := dial(ctx); err != nil {
			return err
		}
		up()
		var group sync.WaitGroup
		group.Go(func() { _ = receive(ctx) })
		group.Wait()
		return nil
	})
}

var hedge retryhedge.Hedge

func hedges(ctx context.Context, text string, get func(context.Context) (string, error)) (string, error) {
	_, err := retryhedge.Do(ctx, &hedge, "post", func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(text)) // want `retryhedge.Do may call the function twice, so this is executed twice: hedge only what changes nothing`
		if err != nil {
			return nil, err
		}
		return client.Do(req)
	})
	if err != nil {
		return "", err
	}
	return retryhedge.Do(ctx, &hedge, "get", get)
}
