package retryablehttp

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/go-cleanhttp"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// Do sends a request through a Transport of package retryhttp, configured by the fields
// of the Client. The test replaces the Client's own Do with this method.
func (c *Client) Do(req *Request) (*http.Response, error) {
	c.clientInit.Do(func() {
		if c.HTTPClient == nil {
			c.HTTPClient = cleanhttp.DefaultPooledClient()
		}
	})
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		req.Body = body
	}
	a := &adapter{client: c, request: req, logger: c.logger()}
	transport := &retryhttp.Transport{
		Base: a, Check: a.check, MayRepeat: func(*http.Request) bool { return true },
		Policy: retry.Policy{MaxAttempts: c.RetryMax + 1, Backoff: a, Hint: retry.HintIgnore{}, Budget: retry.NoBudget{}}, // as go-retryablehttp
	}
	resp, err := transport.RoundTrip(req.Request)
	return a.result(resp, err)
}

var errAgain, errStop = errors.New("again"), errors.New("stop")

// adapter is the state of one call.
type adapter struct {
	client  *Client
	request *Request
	logger  any
	number  int
	again   bool  // whether the last attempt should be retried
	err     error // the error of CheckRetry, the response handler or PrepareRetry
	lost    error // the error of an attempt without a response
}

// RoundTrip makes one attempt, with an http.Client, so that it includes redirects.
func (a *adapter) RoundTrip(req *http.Request) (*http.Response, error) {
	c := a.client
	a.number = retryhttp.AttemptNumber(req.Context())
	a.err, a.lost = nil, nil
	req.GetBody = a.request.GetBody // for redirects
	if a.number > 1 && c.PrepareRetry != nil {
		if a.err = c.PrepareRetry(a.request.Request); a.err != nil {
			_ = req.Body.Close()
			return nil, retry.Permanent(a.err)
		}
		req.Header = a.request.Header.Clone()
	}
	if c.RequestLogHook != nil {
		c.RequestLogHook(a.hookLogger(), req, a.number-1)
	}
	resp, err := c.HTTPClient.Do(req)
	if err == nil {
		return resp, nil
	}
	a.lost = err
	if a.again, a.err = c.CheckRetry(req.Context(), resp, err); a.again {
		return nil, retry.Transient(err)
	}
	return nil, retry.Permanent(err)
}

func (a *adapter) hookLogger() Logger {
	if leveled, ok := a.logger.(LeveledLogger); ok && leveled != nil {
		return hookLogger{leveled}
	}
	logger, _ := a.logger.(Logger)
	return logger
}

// check passes a response to the Client's CheckRetry.
func (a *adapter) check(resp *http.Response, _ func(int) ([]byte, error)) error {
	c := a.client
	if c.ResponseLogHook != nil {
		c.ResponseLogHook(a.hookLogger(), resp)
	}
	a.again, a.err = c.CheckRetry(a.request.Context(), resp, nil)
	if !a.again && a.err == nil && a.request.responseHandler != nil {
		a.err = a.request.responseHandler(resp)
		a.again, _ = c.CheckRetry(a.request.Context(), resp, a.err)
	}
	switch {
	case a.again:
		return retry.Transient(errAgain)
	case a.err != nil, resp.StatusCode >= 400:
		return retry.Permanent(errStop)
	}
	return nil
}

// Delay implements retry.Backoff.
func (a *adapter) Delay(failed retry.Attempt, _ float64) time.Duration {
	var resp *http.Response
	if e, ok := errors.AsType[*retryhttp.StatusError](failed.Err); ok {
		resp = e.Response
	}
	return a.client.Backoff(a.client.RetryWaitMin, a.client.RetryWaitMax, failed.Number-1, resp)
}

// result converts the result of the Transport to that of the Client's own Do.
func (a *adapter) result(resp *http.Response, err error) (*http.Response, error) {
	if err == nil && !a.again && a.err == nil {
		return resp, nil
	}
	if ended := a.request.Context().Err(); ended != nil && a.lost == nil {
		return nil, ended // during a wait
	}
	if err = a.err; err == nil {
		err = a.lost
	}
	if a.client.ErrorHandler != nil {
		return a.client.ErrorHandler(resp, err, a.number)
	}
	if resp != nil {
		a.client.drainBody(resp.Body)
	}
	if err == nil {
		return nil, fmt.Errorf("%s %s giving up after %d attempt(s)", a.request.Method, redactURL(a.request.URL), a.number)
	}
	return nil, fmt.Errorf("%s %s giving up after %d attempt(s): %w", a.request.Method, redactURL(a.request.URL), a.number, err)
}
