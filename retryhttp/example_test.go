package retryhttp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

// flaky starts a server whose first responses have the given statuses. Later ones
// describe the request.
func flaky(statuses ...int) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(statuses) > 0 {
			w.WriteHeader(statuses[0])
			statuses = statuses[1:]
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %q, key %q, attempt %q", r.Method, body, r.Header.Get("Idempotency-Key"), r.Header.Get("Attempt"))
	}))
}

var soon = retry.Policy{Backoff: retry.Constant(time.Millisecond)}

func show(resp *http.Response, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, string(body))
}

func Example() {
	server := flaky(503, 429)
	defer server.Close()

	client := retryhttp.NewClient(retry.Policy{Backoff: retry.FullJitter{Base: time.Millisecond}})
	resp, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode)
	// Output: 200
}

// A server that honors the Idempotency-Key executes the payment once, however often the
// request arrives. Without the key, the request is not retried after a 503.
func Example_post() {
	server := flaky(503)
	defer server.Close()
	client := retryhttp.NewClient(soon)

	req, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(`{"amount": 5}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Idempotency-Key", "6f1c-order-17")
	show(client.Do(req))
	// Output: 200 OK POST "{\"amount\": 5}", key "6f1c-order-17", attempt ""
}

// A GetBody that reopens the file allows retries of an upload without holding it in
// memory.
func Example_upload() {
	server := flaky(503)
	defer server.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "report.txt")
	if err := os.WriteFile(name, []byte("42 rows"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	file, err := os.Open(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	info, err := file.Stat()
	if err != nil {
		fmt.Println(err)
		return
	}
	req, err := http.NewRequest(http.MethodPut, server.URL, file)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.ContentLength = info.Size()
	req.GetBody = func() (io.ReadCloser, error) { return os.Open(name) }
	show(retryhttp.NewClient(soon).Do(req))
	// Output: 200 OK PUT "42 rows", key "", attempt ""
}

type printAttempt struct{}

func (printAttempt) RoundTrip(req *http.Request) (*http.Response, error) {
	fmt.Println("sends attempt", retryhttp.AttemptNumber(req.Context()))
	return http.DefaultTransport.RoundTrip(req)
}

// The number of the attempt is in the context of each outgoing request and of the
// response's Request. Sign also sends it to the server.
func ExampleAttemptNumber() {
	server := flaky(503, 503)
	defer server.Close()

	client := &http.Client{Transport: &retryhttp.Transport{Base: printAttempt{}, Policy: soon, Sign: func(req *http.Request) (retryhttp.Refused, error) {
		req.Header.Set("Attempt", strconv.Itoa(retryhttp.AttemptNumber(req.Context())))
		return nil, nil
	}}}
	resp, err := client.Get(server.URL)
	show(resp, err)
	fmt.Println("it took", retryhttp.AttemptNumber(resp.Request.Context()))
	// Output:
	// sends attempt 1
	// sends attempt 2
	// sends attempt 3
	// 200 OK GET "", key "", attempt "3"
	// it took 3
}

// A trace for each attempt reports its connection. Here all attempts share one
// connection, because failed responses are drained. Several connections within one
// attempt would mean that net/http retried it.
func Example_httptrace() {
	server := flaky(503, 503)
	defer server.Close()

	policy := soon
	policy.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			fmt.Printf("attempt %d: connection used before: %t\n", a.Number, info.Reused)
		}}
		return httptrace.WithClientTrace(ctx, trace), func(ended retry.Attempt) {
			fmt.Printf("attempt %d: %v\n", a.Number, ended.Err)
		}
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: &retryhttp.Transport{Base: transport, Policy: policy}}
	resp, err := client.Get(server.URL)
	if err == nil {
		resp.Body.Close()
	}
	// Output:
	// attempt 1: connection used before: false
	// attempt 1: 503 Service Unavailable
	// attempt 2: connection used before: true
	// attempt 2: 503 Service Unavailable
	// attempt 3: connection used before: true
	// attempt 3: <nil>
}

// A host that is down does not use up the retries of other hosts. With an empty budget,
// only first attempts are made.
func ExamplePerHost() {
	server := flaky(503, 503, 503, 503)
	defer server.Close()

	hosts := &retryhttp.PerHost{New: func(string) retry.Budget {
		return &retry.SharedBudget{Reserve: 1}
	}}
	client := &http.Client{Transport: &retryhttp.Transport{Policy: soon, PerHost: hosts}}
	for range 2 {
		resp, err := client.Get(server.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		fmt.Println(resp.StatusCode, "in attempt", retryhttp.AttemptNumber(resp.Request.Context()))
	}
	// Output:
	// 503 in attempt 2
	// 503 in attempt 1
}

// The calls to each route share what the server asks for.
func ExamplePerScope() {
	client := &http.Client{Transport: &retryhttp.Transport{PerScope: &retryhttp.PerScope{}}}

	// For an API with IDs in its paths, and for jobs that may wait for longer than a minute:
	client.Transport = &retryhttp.Transport{PerScope: &retryhttp.PerScope{
		Scope: func(req *http.Request) string {
			if strings.HasPrefix(req.URL.Path, "/users/") {
				return req.Method + " /users/"
			}
			return retryhttp.ByRoute(req)
		},
		New: func(string) retry.Limiter {
			return &ratelimit.Limiter{MaxWait: 5 * time.Minute}
		},
	}}
}

// A classifier in front of the default one makes a permanent response retryable. For a
// POST without a key, Unprocessed must list the status, too.
func ExampleStatusError() {
	server := flaky(409, 409)
	defer server.Close()

	policy := soon
	policy.Classifier = retry.FirstOf(
		retry.ClassifierFunc(func(err error) retry.Verdict {
			if e, ok := errors.AsType[*retryhttp.StatusError](err); ok && e.HTTPStatusCode() == http.StatusConflict {
				return retry.Verdict{Class: retry.ClassTransient}
			}
			return retry.Verdict{Class: retry.ClassUnknown}
		}),
		retry.DefaultClassifier{},
	)
	client := &http.Client{Transport: &retryhttp.Transport{Policy: policy, Unprocessed: []int{http.StatusConflict}}}
	show(client.Post(server.URL, "text/plain", strings.NewReader("lock")))
	// Output: 200 OK POST "lock", key "", attempt ""
}

// An operation of retry.Do that reads the whole body also retries a truncated response.
// A Transport cannot, because the caller has already read a part of the response.
func ExampleCheckStatus() {
	server := flaky(503)
	defer server.Close()

	page, err := retry.DoValue(context.Background(), soon, func(ctx context.Context) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			return "", retry.Permanent(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), errors.Join(err, retryhttp.CheckStatus(resp))
	})
	fmt.Println(page, err)
	// Output: GET "", key "", attempt "" <nil>
}

// A hook logs a line for each attempt, without the secrets of the request.
func ExampleInfoFrom() {
	server := flaky(503)
	defer server.Close()

	policy := soon
	policy.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		return nil, func(ended retry.Attempt) {
			info, _ := retryhttp.InfoFrom(ctx)
			path := strings.TrimPrefix(info.URL, server.URL)
			fmt.Printf("method=%s url=%s attempt=%d status=%d class=%v err=%v\n",
				info.Method, path, info.Attempt, info.Status, ended.Class, ended.Err)
		}
	}
	resp, err := retryhttp.NewClient(policy).Get(server.URL + "/orders?token=secret")
	if err == nil {
		resp.Body.Close()
	}
	// Output:
	// method=GET url=/orders attempt=1 status=503 class=transient err=503 Service Unavailable
	// method=GET url=/orders attempt=2 status=200 class=unknown err=<nil>
}

// Google's APIs respond with 403 both to exceeded rate limits and to missing
// permissions, and GraphQL servers respond with 200 to everything. In both cases, the
// reason is in the body.
func ExampleTransport_check() {
	replies := []string{
		`{"error": {"errors": [{"reason": "rateLimitExceeded"}]}}`,
		`{"errors": [{"extensions": {"code": "THROTTLED"}}]}`,
		`{"data": {}}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(replies[0], "rateLimit") {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprint(w, replies[0])
		replies = replies[1:]
	}))
	defer server.Close()

	check := func(resp *http.Response, peek func(int) ([]byte, error)) error {
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			return nil
		}
		start, err := peek(4096)
		if err != nil {
			return err
		}
		for _, reason := range []string{`"rateLimitExceeded"`, `"userRateLimitExceeded"`, `"THROTTLED"`} {
			if bytes.Contains(start, []byte(reason)) {
				return retry.Throttled(errors.New("the body says " + reason))
			}
		}
		return nil
	}
	policy := soon
	policy.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) { fmt.Println(failed.Err) }
	client := &http.Client{Transport: &retryhttp.Transport{Policy: policy, Check: check}}
	show(client.Post(server.URL, "application/json", strings.NewReader("{}")))
	// Output:
	// 403 Forbidden: the body says "rateLimitExceeded"
	// 200 OK: the body says "THROTTLED"
	// 200 OK {"data": {}}
}

// One request uses another policy, and one is not retried.
func ExampleWithPolicy() {
	server := flaky(503, 503, 503, 503, 503)
	defer server.Close()

	client := retryhttp.NewClient(soon)
	patient := soon
	patient.MaxAttempts = 5
	for _, ctx := range []context.Context{
		retryhttp.WithoutRetry(context.Background()),
		retryhttp.WithPolicy(context.Background(), patient),
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp, err := client.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		fmt.Println(resp.StatusCode, "in attempt", retryhttp.AttemptNumber(resp.Request.Context()))
	}
	// Output:
	// 503 in attempt 0
	// 200 in attempt 5
}

// A 401 means that the token has expired: it is renewed once for all calls, and each request is sent
// again with the new one, whatever its method, because the server has not processed it.
func ExampleLease() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token 2" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "created")
	}))
	defer server.Close()

	renewals := 0
	token := &retryhttp.Lease[string]{
		Renew: func(context.Context, string) (string, error) {
			renewals++
			return fmt.Sprint("token ", renewals), nil
		},
		Set: retryhttp.InHeader("Authorization", "Bearer "),
	}
	client := &http.Client{Transport: &retryhttp.Transport{Sign: token.Sign}}
	show(client.Post(server.URL, "text/plain", strings.NewReader("a book")))
	fmt.Println(renewals, "renewals")
	// Output:
	// 200 OK created
	// 2 renewals
}

// A key that is refused rests for as long as the response asks for. Requests go out with the other
// one meanwhile.
func ExamplePool() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Api-Key")
		fmt.Println("request with", key)
		if key == "key 1" {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, "created")
	}))
	defer server.Close()

	keys := &retryhttp.Pool[string]{Values: []string{"key 1", "key 2"}, Set: retryhttp.InHeader("X-Api-Key", "")}
	client := &http.Client{Transport: &retryhttp.Transport{Sign: keys.Sign}}
	for range 2 {
		show(client.Post(server.URL, "text/plain", strings.NewReader("a book")))
	}
	// Output:
	// request with key 1
	// request with key 2
	// 200 OK created
	// request with key 2
	// 200 OK created
}

// Each attempt has a signature of its own, of the request and its body.
func ExampleTransport_sign() {
	server := flaky(503)
	defer server.Close()

	attempts := 0
	client := &http.Client{Transport: &retryhttp.Transport{Policy: soon, Sign: func(req *http.Request) (retryhttp.Refused, error) {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		defer body.Close()
		sum := sha256.New()
		_, err = io.Copy(sum, body)
		attempts++
		req.Header.Set("Attempt", fmt.Sprintf("%d, body %.4x", attempts, sum.Sum(nil)))
		return nil, err
	}}}
	req, err := http.NewRequest(http.MethodPut, server.URL, strings.NewReader("a book"))
	if err != nil {
		fmt.Println(err)
		return
	}
	show(client.Do(req))
	// Output: 200 OK PUT "a book", key "", attempt "2, body ae359642"
}
