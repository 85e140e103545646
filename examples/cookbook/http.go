package cookbook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// ThroughProxies sends each attempt of a request through the next of several proxies.
func ThroughProxies(policy retry.Policy, proxies []*url.URL) *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.Proxy = func(req *http.Request) (*url.URL, error) {
		n := max(1, retryhttp.AttemptNumber(req.Context()))
		return proxies[(n-1)%len(proxies)], nil
	}
	return &http.Client{Transport: &retryhttp.Transport{Policy: policy, Base: base}}
}

// Servers sends each attempt to the next of several hosts.
type Servers struct {
	Hosts []string // such as "eu.example.com"
	Base  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (s Servers) RoundTrip(req *http.Request) (*http.Response, error) {
	n := max(1, retryhttp.AttemptNumber(req.Context()))
	req = req.Clone(req.Context())
	req.URL.Host = s.Hosts[(n-1)%len(s.Hosts)]
	req.Host = ""
	return s.Base.RoundTrip(req)
}

// Keyed returns a client for an API that recognizes repeated requests by a header with a name
// of its own.
func Keyed(policy retry.Policy) *http.Client {
	return &http.Client{Transport: &retryhttp.Transport{
		Policy: policy,
		MayRepeat: func(req *http.Request) bool {
			return retryhttp.IsIdempotent(req) || req.Header.Get("PayPal-Request-Id") != ""
		},
	}}
}

// Upload sends a file. Each attempt opens it again.
func Upload(ctx context.Context, client *http.Client, address, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, address, nil)
	if err != nil {
		return err
	}
	req.ContentLength = info.Size()
	req.GetBody = func() (io.ReadCloser, error) { return os.Open(name) }
	req.Body, err = req.GetBody()
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}

// A Page is a part of a list.
type Page struct {
	Items []string `json:"items"`
	Next  string   `json:"next"` // the cursor of the next page; "" for none
}

// Items reads a list page by page. A page that fails is asked for again, not the whole list.
func Items(ctx context.Context, client *http.Client, address string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		cursor := ""
		seen := map[string]bool{}
		for {
			page, err := readPage(ctx, client, address+"?cursor="+url.QueryEscape(cursor))
			if err != nil {
				yield("", err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			if seen[page.Next] {
				yield("", retry.Permanent(fmt.Errorf("the server returned the cursor %q a second time", page.Next)))
				return
			}
			seen[page.Next] = true
			cursor = page.Next
		}
	}
}

// readPage is what fails and is retried, by the Transport of the client.
func readPage(ctx context.Context, client *http.Client, address string) (Page, error) {
	var page Page
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return page, err
	}
	resp, body, err := retryhttp.Read(client, req)
	if err != nil {
		return page, err
	}
	err = retryhttp.CheckStatus(resp)
	if err != nil {
		return page, err
	}
	err = json.Unmarshal(body, &page)
	return page, err
}
