package main

// This file runs cases with the library, as the drivers do with the SDKs.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// runCase runs a case with [retry.Do] and real requests, and returns what a driver
// would report, with delays in ns.
func runCase(server *server, mode string, c testCase) ([]observation, error) {
	return runCaseAt(server.URL, server.endpoint(c), mode, c)
}

// runCaseAt is runCase with the URLs of the script and of the service.
func runCaseAt(script, endpoint, mode string, c testCase) ([]observation, error) {
	policy, err := policyOf(mode, c)
	if err != nil {
		return nil, err
	}
	if err := setQuota(policy.Budget, c.Quota); err != nil {
		return nil, err
	}
	return play(nil, script, endpoint, mode, c, policy)
}

// inContext returns the context of a call; nil means context.WithCancel.
type inContext func(context.Context) (context.Context, context.CancelFunc)

// play runs a case with a policy. Its waits take no time.
func play(in inContext, script, endpoint, mode string, c testCase, policy retry.Policy) ([]observation, error) {
	policy.Rand = numbers(c.Random, c.RandomThen)
	operation := newOperation(script, endpoint, mode, c.Service)
	defer operation.client.CloseIdleConnections()
	var observed []observation
	for _, call := range c.Calls {
		if err := operation.begin(call); err != nil {
			return nil, err
		}
		clock := &skipping{}
		policy.Clock = clock
		err := operation.do(in, policy)
		if isLongPoll(mode, c) {
			err = awspreset.LongPoll(context.Background(), policy, err)
		}
		o, err := operation.end(err)
		if err != nil {
			return nil, err
		}
		o.Delays = []json.Number{} // not null
		for _, d := range clock.waits {
			o.Delays = append(o.Delays, json.Number(fmt.Sprint(d.Nanoseconds())))
		}
		o.Quota = balance(policy.Budget)
		observed = append(observed, o)
	}
	return observed, nil
}

func (o *operation) do(in inContext, policy retry.Policy) error {
	if in == nil {
		in = context.WithCancel
	}
	ctx, cancel := in(context.Background())
	defer cancel()
	return retry.Do(ctx, policy, o.run)
}

// skipping is the system's clock, except that it skips waits and records them: servers need
// real time to be late.
type skipping struct {
	retry.SystemClock
	waits []time.Duration
}

func (s *skipping) Sleep(ctx context.Context, d time.Duration) error {
	s.waits = append(s.waits, d)
	return ctx.Err()
}

// numbers returns a function that returns the elements of list in order and, once they
// are used up, always the value of then.
func numbers(list []float64, then float64) func() float64 {
	return func() float64 {
		if len(list) == 0 {
			return then
		}
		u := list[0]
		list = list[1:]
		return u
	}
}

func setQuota(b retry.Budget, quota *int) error {
	full := balance(b)
	if quota == nil || full == nil {
		return nil
	}
	for *balance(b) > float64(*quota) {
		before := *balance(b)
		if !b.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassThrottled}}) || *balance(b) == before {
			b.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient}})
		}
		if *balance(b) == before {
			break
		}
	}
	if left := *balance(b); left != float64(*quota) {
		return fmt.Errorf("the quota is %v, not %d", left, *quota)
	}
	return nil
}

// balance returns the balance of a budget, or nil if the budget does not report one.
func balance(b retry.Budget) *float64 {
	if b, ok := b.(interface{ Balance() float64 }); ok {
		return new(b.Balance())
	}
	return nil
}

type operation struct {
	server  string // the URL of the script's server
	client  *http.Client
	request func(ctx context.Context) (*http.Request, error)
	format  *wireFormat
	mode    string
	service string
	call    call
	sent    int
}

func newOperation(script, endpoint, mode, service string) *operation {
	// Each attempt has its own connection: net/http silently retries a request when a
	// reused connection breaks.
	o := &operation{server: script, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}, mode: mode, service: service}
	method, contentType, body := http.MethodPost, "application/x-amz-json-1.0", "{}"
	o.format = awsJSON
	switch service {
	case "sts":
		o.format, contentType, body = awsQuery, "application/x-www-form-urlencoded", "Action=GetCallerIdentity&Version=2011-06-15"
	case "s3":
		o.format, method, contentType, body = restXML, http.MethodGet, "", ""
	}
	o.request = func(ctx context.Context) (*http.Request, error) {
		r, err := http.NewRequestWithContext(ctx, method, endpoint, strings.NewReader(body))
		if err == nil && contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		return r, err
	}
	return o
}

func (o *operation) begin(c call) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	o.call, o.sent = c, 0
	_, err = o.control(http.MethodPut, body)
	return err
}

// end returns the observation of the call; failure is nil after a success.
func (o *operation) end(failure error) (observation, error) {
	requests, err := o.requestsSeen()
	if err != nil {
		return observation{}, err
	}
	result := observation{Attempts: requests, OK: failure == nil}
	if failure != nil {
		result.Error = failure.Error()
	}
	return result, nil
}

func (o *operation) requestsSeen() (int, error) {
	body, err := o.control(http.MethodGet, nil)
	if err != nil {
		return 0, err
	}
	var seen struct{ Requests int }
	err = json.Unmarshal(body, &seen)
	return seen.Requests, err
}

// cancelWhenSeen cancels an attempt without a response as soon as the server has the
// request. A time limit instead might end the attempt before that.
func (o *operation) cancelWhenSeen(number int, cancel context.CancelFunc) {
	defer cancel()
	for {
		if requests, err := o.requestsSeen(); err != nil || requests >= number {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (o *operation) control(method string, body []byte) ([]byte, error) {
	r, err := http.NewRequest(method, o.server+scriptPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	status, _, body, err := o.send(r)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the server: %s", body)
	}
	return body, err
}

func (o *operation) send(r *http.Request) (int, http.Header, []byte, error) {
	resp, err := o.client.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, body, err
}

func (o *operation) run(ctx context.Context) error {
	o.sent++
	hangs := o.call.response(o.sent).Fault == "hang"
	if hangs {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		go o.cancelWhenSeen(o.sent, cancel)
	}
	r, err := o.request(ctx)
	if err != nil {
		return retry.Permanent(err)
	}
	status, header, body, err := o.send(r)
	if err != nil && hangs {
		err = &url.Error{Op: r.Method, URL: o.server, Err: context.DeadlineExceeded}
	}
	if err != nil {
		return sendErrorOf(o.mode, err)
	}
	if status < 300 {
		return checksumOf(o.mode, header, body)
	}
	code, message := o.format.read(body)
	if code == "" {
		code = codeOf(o.mode, o.format, status)
	}
	return &serviceError{status: status, code: code, message: message, hint: hintOf(o.mode, status, header)}
}

// A serviceError is a client's error for an error response.
type serviceError struct {
	status        int
	code, message string
	hint          time.Duration
}

func (e *serviceError) Error() string             { return fmt.Sprintf("%d %s: %s", e.status, e.code, e.message) }
func (e *serviceError) HTTPStatusCode() int       { return e.status }
func (e *serviceError) ErrorCode() string         { return e.code }
func (e *serviceError) ErrorMessage() string      { return e.message }
func (e *serviceError) RetryAfter() time.Duration { return e.hint }

func nanosecondsIn(unit string) (float64, error) {
	switch unit {
	case "s":
		return 1e9, nil
	case "ms":
		return 1e6, nil
	case "ns":
		return 1, nil
	}
	return 0, fmt.Errorf("unit %q is not s, ms or ns", unit)
}
