package repeat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

type bearer struct {
	token func(context.Context) (string, error)
	base  http.RoundTripper
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := b.token(req.Context())
	if err != nil {
		return nil, retryhttp.Unsent(fmt.Errorf("token: %w", err))
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := b.base.RoundTrip(req)
	if err != nil {
		return nil, retryhttp.Unsent(fmt.Errorf("ledger: %w", err)) // want `the request may have been sent before err, so a POST whose response is lost is executed again: return this error without Unsent`
	}
	return resp, nil
}

type short struct{ base http.RoundTripper }

func (s short) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.base.RoundTrip(req)
	return resp, retryhttp.Unsent(err) // want `the request may have been sent before err`
}

type refused struct{ base http.RoundTripper }

func (r refused) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.base.RoundTrip(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, retryhttp.Unsent(err) // which this failure says
	}
	return resp, err
}

type sent struct{ base http.RoundTripper }

func (s sent) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.base.RoundTrip(req)
	if err != nil {
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, err
		}
		return nil, retryhttp.Unsent(err) // as the condition above says
	}
	return resp, nil
}

var errLost = errors.New("connection lost")

func settle(ctx context.Context, pay func(context.Context) error) error {
	err := pay(ctx)
	if errors.Is(err, errLost) {
		return retry.Unrepeatable(err)
	}
	return err
}

func lookup(ctx context.Context, find func(context.Context) error) (string, error) {
	if err := find(ctx); err != nil {
		return "", fmt.Errorf("lookup: %w", retry.Permanent(err))
	}
	return "", nil
}

func plain(ctx context.Context, find func(context.Context) error) error { return find(ctx) }

func overrides(ctx context.Context, p retry.Policy, pay func(context.Context) error) error {
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		err := settle(ctx, pay)
		if err != nil {
			return retry.Throttled(fmt.Errorf("charge: %w", err)) // want `the outermost marker decides, so retry.Throttled overrides the retry.Unrepeatable of settle: wrap the error without a marker`
		}
		return nil
	})
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		_, err := lookup(ctx, pay)
		return retry.After(err, time.Second) // want `retry.After overrides the retry.Permanent of lookup`
	})
}

func keepsMarks(ctx context.Context, p retry.Policy, pay func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := settle(ctx, pay)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return retry.Transient(err) // of this failure alone
		}
		if err != nil {
			return retry.After(err, time.Second) // which keeps Unrepeatable
		}
		err = plain(ctx, pay)
		if err != nil {
			return retry.Transient(err)
		}
		return nil
	})
}

func asksFirst(ctx context.Context, p retry.Policy, pay func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := settle(ctx, pay)
		if errors.Is(err, errLost) {
			return err
		}
		return retry.Throttled(err)
	})
}
