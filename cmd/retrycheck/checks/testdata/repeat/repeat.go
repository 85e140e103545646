package repeat

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/http"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrysql"
)

func names(ctx context.Context, p retry.Policy, db *sql.DB) (names []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		rows, err := db.QueryContext(ctx, "SELECT name FROM customer")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name) // want `a retry appends to names again: collect in a variable of the operation, and set names at its end`
		}
		return rows.Err()
	})
	return names, err
}

func inCallback(ctx context.Context, p retry.Policy, each func(context.Context, func(string) error) error) ([]string, error) {
	var all []string
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		return each(ctx, func(name string) error {
			all = append(all, name) // want `a retry appends to all again`
			return nil
		})
	})
	return all, err
}

func emptied(ctx context.Context, p retry.Policy, each func(context.Context, func(string) error) error) (all []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		all = all[:0]
		return each(ctx, func(name string) error {
			all = append(all, name)
			return nil
		})
	})
	return all, err
}

// pages appends when nothing can fail any more.
func pages(ctx context.Context, p retry.Policy, page func(context.Context, int) ([]string, error)) (all []string, err error) {
	for number := range 3 {
		err = errors.Join(err, retry.Do(ctx, p, func(ctx context.Context) error {
			list, err := page(ctx, number)
			if err != nil {
				return err
			}
			for _, name := range list {
				all = append(all, name)
			}
			return nil
		}))
	}
	return all, err
}

func own(ctx context.Context, p retry.Policy, get func(context.Context) (string, error)) (failures []error, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		var all []string
		for range 3 {
			one, err := get(ctx)
			failures = append(failures, err)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return nil
	})
	return failures, err
}

func pays(ctx context.Context, p retry.Policy, post func(context.Context, http.Header) error) error {
	known := rand.Text()
	return retry.Do(ctx, p, func(ctx context.Context) error {
		header := http.Header{}
		header.Set("Idempotency-Key", rand.Text()) // want `each attempt has another key, so the server executes a retry again`
		header.Set("X-Request-Id", rand.Text())
		header.Set("Idempotency-Key", known)
		header.Set("Idempotency-Key", retryhttp.RandomKey(nil)) // want `each attempt has another key`
		key := "order " + rand.Text()
		header.Add("idempotency-key", key) // want `each attempt has another key`
		return post(ctx, header)
	})
}

func sends(ctx context.Context, p retry.Policy, client *http.Client, order string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(order)) // want `a POST whose response is lost is executed again`
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 400 {
			return errors.New(resp.Status)
		}
		resp, err = client.PostForm("https://example.com/", nil) // want `a POST whose response is lost is executed again`
		if err == nil && resp.StatusCode >= 400 {
			err = errors.New(resp.Status)
		}
		return err
	})
}

func sendsWithKey(ctx context.Context, p retry.Policy, client *http.Client, method, order, key string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(order))
		if err != nil {
			return retry.Permanent(err)
		}
		req.Header.Set("Idempotency-Key", key)
		other, err := http.NewRequestWithContext(ctx, method, "https://example.com/", nil)
		if err != nil {
			return retry.Permanent(err)
		}
		return errors.Join(checked(client.Do(req)), checked(client.Do(other)))
	})
}

func checked(resp *http.Response, err error) error {
	if err == nil && resp.StatusCode >= 400 {
		err = errors.New(resp.Status)
	}
	return err
}

var key = rand.Text()

var keys = []retryhttp.Transport{
	{IdempotencyKey: func(*http.Request) string { return "order-" + key }}, // want `all requests have the same key, so the server executes only the first: return another key for each`
	{IdempotencyKey: func(*http.Request) string { return "" }},
	{IdempotencyKey: func(req *http.Request) string { return req.Header.Get("X-Order") }},
	{IdempotencyKey: func(*http.Request) string { return rand.Text() }},
	{IdempotencyKey: retryhttp.RandomKey},
}

func once(ctx context.Context, p retry.Policy, db *sql.DB, id string) error {
	key := retrysql.Key{In: retrysql.PostgresKeys, ID: "orders/" + rand.Text()} // want `nobody can send this key again, so the work of a retry is done again: use the key of the request`
	_, err := retrysql.Once(ctx, p, db, nil, key, func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil })
	if err != nil {
		return err
	}
	key = retrysql.Key{In: retrysql.PostgresKeys, ID: "orders/" + id}
	_, err = retrysql.Once(ctx, p, db, nil, key, func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil })
	return err
}
