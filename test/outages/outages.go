// Package outages has calls of this module's packages that fail as they do while a service is
// away, for the tests of queues: no job may end because of them.
package outages

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrysql"
)

// Calls returns the calls by their names.
func Calls() map[string]func(context.Context) error {
	twice := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2, Budget: retry.NoBudget{}}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	get := func(answer func() (*http.Response, error)) func(context.Context) error {
		client := &http.Client{Transport: &retryhttp.Transport{
			Policy: twice, Base: roundTripper(func(*http.Request) (*http.Response, error) { return answer() }),
		}}
		return func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://shop.example/order", nil)
			if err != nil {
				return err
			}
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			defer func() { _ = resp.Body.Close() }()
			return retryhttp.CheckStatus(resp)
		}
	}
	return map[string]func(context.Context) error{
		"Do gave up": func(ctx context.Context) error {
			return retry.Do(ctx, twice, func(context.Context) error { return refused })
		},
		"retryhttp, no connection": get(func() (*http.Response, error) { return nil, refused }),
		"retryhttp, 503": get(func() (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: io.NopCloser(new(bytes.Buffer))}, nil
		}),
		"InTx gave up": func(ctx context.Context) error {
			begin := func(context.Context) (tx, error) { return tx{}, refused }
			return retrysql.InTxFunc(ctx, twice, begin, func(context.Context, tx) error { return nil })
		},
		"Once gave up": func(ctx context.Context) error {
			return once(ctx, twice, func(context.Context) (tx, error) { return tx{}, refused })
		},
		"Once, in progress": func(ctx context.Context) error {
			err := once(ctx, twice, func(context.Context) (tx, error) { return tx{}, nil })
			if !errors.Is(err, retrysql.ErrInProgress) {
				return retry.Permanent(errors.New("not in progress"))
			}
			return err
		},
	}
}

// tx is a transaction that finds no row.
type tx struct{}

func (tx) Commit() error          { return nil }
func (tx) Rollback() error        { return nil }
func (tx) Scan(dest ...any) error { return sql.ErrNoRows }

func once(ctx context.Context, p retry.Policy, begin func(context.Context) (tx, error)) error {
	query := func(t tx, _ context.Context, _ string, _ ...any) tx { return t }
	key := retrysql.Key{In: retrysql.PostgresKeys, ID: "order"}
	_, err := retrysql.OnceFunc(ctx, p, begin, query, key, func(context.Context, tx) ([]byte, error) { return nil, nil })
	return err
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
