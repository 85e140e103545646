// Package legacyhttp makes requests as a client of hashicorp/go-retryablehttp would. The
// command retrymigrate writes these names where it cannot replace the client by one with a
// retryhttp.Transport; each marks a place where that is left to do.
package legacyhttp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/legacy"
)

// Client returns an HTTP client that retries as a *retryablehttp.Client would, whose fields
// it reads for each request.
func Client(retryable any) *http.Client {
	return &http.Client{Transport: transport{retryable}}
}

type transport struct{ retryable any }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var content []byte
	if req.Body != nil && req.Body != http.NoBody {
		var err error
		content, err = io.ReadAll(req.Body)
		if err := cmp.Or(err, req.Body.Close()); err != nil {
			return nil, err
		}
	}
	resp, err := Do(t.retryable, req, func() ([]byte, error) { return content, nil })
	if e, ok := err.(*url.Error); ok { // the client makes one, too
		err = e.Err
	}
	return resp, err
}

var errAgain = errors.New("CheckRetry asks for another attempt")

// Do makes a request as the method Do of a *retryablehttp.Client would: its CheckRetry decides
// whether to retry and its Backoff how long to wait. body returns the content of the request.
func Do(retryable any, req *http.Request, body func() ([]byte, error)) (*http.Response, error) {
	c := settings{reflect.ValueOf(retryable).Elem()}
	content, err := body()
	if err != nil {
		return nil, err
	}
	client := cmp.Or(field[*http.Client](c, "HTTPClient"), http.DefaultClient)
	check := field[func(context.Context, *http.Response, error) (bool, error)](c, "CheckRetry")
	wait := field[func(low, high time.Duration, n int, resp *http.Response) time.Duration](c, "Backoff")
	most := field[int](c, "RetryMax")
	url := req.URL.Redacted()
	c.debug("performing request", fmt.Sprint(req.Method, " ", url), "method", req.Method, "url", url)
	var resp *http.Response
	attempts, again := 0, true
	err = retry.Do(req.Context(), retry.Policy{
		MaxAttempts: max(1, most+1),
		Classifier:  legacy.If(func(error) bool { return again }),
		Backoff: retry.BackoffFunc(func(a retry.Attempt, _ float64) time.Duration {
			drain(resp)
			delay := wait(field[time.Duration](c, "RetryWaitMin"), field[time.Duration](c, "RetryWaitMax"), a.Number-1, resp)
			request, left := req.Method+" "+url, most+1-a.Number
			if resp != nil {
				request += fmt.Sprintf(" (status: %d)", resp.StatusCode)
			}
			c.debug("retrying request", fmt.Sprintf("%s: retrying in %s (%d left)", request, delay, left),
				"request", request, "timeout", delay, "remaining", left)
			return delay
		}),
	}, func(ctx context.Context) error {
		if prepare := field[func(*http.Request) error](c, "PrepareRetry"); attempts > 0 {
			req = new(*req) // the transport may still hold the last one
			if prepare != nil {
				if err := prepare(req); err != nil {
					again = false
					return err
				}
			}
		}
		if content != nil {
			req.Body = io.NopCloser(bytes.NewReader(content))
		}
		c.log("RequestLogHook", req, attempts)
		attempts++
		var failed, refused error
		resp, failed = client.Do(req)
		again, refused = check(ctx, resp, failed)
		if failed == nil {
			c.log("ResponseLogHook", resp)
		} else if l, ok := c.logger().(leveled); ok {
			l.Error("request failed", "error", failed, "method", req.Method, "url", url)
		} else if l, ok := c.logger().(printer); ok {
			l.Printf("[ERR] %s %s request failed: %v", req.Method, url, failed)
		}
		if err := cmp.Or(refused, failed); err != nil || !again {
			return err
		}
		return errAgain
	})
	if err == nil {
		return resp, nil
	}
	if err = legacy.Bare(err); err == context.Canceled || err == context.DeadlineExceeded {
		drain(resp)
		return nil, err
	}
	if err == errAgain {
		err = nil
	}
	if handle := field[func(*http.Response, error, int) (*http.Response, error)](c, "ErrorHandler"); handle != nil {
		return handle(resp, err, attempts)
	}
	drain(resp)
	text := fmt.Sprintf("%s %s giving up after %d attempt(s)", req.Method, url, attempts)
	if err == nil {
		return nil, errors.New(text)
	}
	return nil, fmt.Errorf("%s: %w", text, err)
}

// drain reads some of the body of a response, so that its connection can be used again.
func drain(resp *http.Response) {
	if resp != nil {
		_, _ = io.CopyN(io.Discard, resp.Body, 4096)
		resp.Body.Close()
	}
}

// settings are the fields of a client. Their types are known by what they consist of.
type settings struct{ client reflect.Value }

// field returns a field, or the zero value if the version of the client has none.
func field[T any](c settings, name string) (value T) {
	if v := c.client.FieldByName(name); v.IsValid() {
		value = v.Convert(reflect.TypeFor[T]()).Interface().(T)
	}
	return value
}

// The loggers that a client may have.
type (
	printer interface{ Printf(string, ...any) }
	leveled interface {
		Error(string, ...any)
		Info(string, ...any)
		Debug(string, ...any)
		Warn(string, ...any)
	}
)

// hookLogger is a leveled logger for a hook.
type hookLogger struct{ leveled }

func (l hookLogger) Printf(format string, args ...any) { l.Info(fmt.Sprintf(format, args...)) }

func (c settings) logger() any { return c.client.FieldByName("Logger").Interface() }

// debug logs a message with its attributes, or a line.
func (c settings) debug(message, line string, attributes ...any) {
	if l, ok := c.logger().(leveled); ok {
		l.Debug(message, attributes...)
	} else if l, ok := c.logger().(printer); ok {
		l.Printf("[DEBUG] %s", line)
	}
}

// log calls a hook with the logger and args.
func (c settings) log(hook string, args ...any) {
	f := c.client.FieldByName(hook)
	if !f.IsValid() || f.IsNil() {
		return
	}
	logger := c.logger()
	if l, ok := logger.(leveled); ok {
		logger = hookLogger{l}
	}
	in := []reflect.Value{reflect.ValueOf(logger)}
	if logger == nil {
		in[0] = reflect.Zero(f.Type().In(0))
	}
	for _, x := range args {
		in = append(in, reflect.ValueOf(x))
	}
	f.Call(in)
}
