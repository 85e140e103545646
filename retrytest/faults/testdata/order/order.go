// Package order is code with mistakes that docs/testing.md finds.
package order

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

type Client struct {
	HTTP *http.Client
	URL  string
}

// Order makes three attempts.
func (c *Client) Order(ctx context.Context, item string) (err error) {
	for range 3 {
		if err = c.post(ctx, item); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

func (c *Client) post(ctx context.Context, item string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/orders", strings.NewReader(item))
	if err != nil {
		return err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return errors.New(resp.Status)
	}
	return nil
}
