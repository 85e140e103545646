package faults_test

import (
	"bufio"
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// program calls the server of shop. It is one that a user might have written.
type program func(ctx context.Context, c *http.Client, url string) error

type named struct {
	name  string
	run   program
	found string // "" if nothing
}

// mistakes are programs that each make one mistake in how they retry, and what is found.
var mistakes = []named{
	{"POST repeated after any error", retrying(post, 3, always, pause), "POST_orders#1/lost: the request is sent again"},
	{"POST repeated after a timeout", retrying(timed(post), 3, timeouts, pause), "POST_orders#1/silent: the request is sent again"},
	{"POST repeated after an unreadable response", retrying(readPost, 3, unreadable, pause), "POST_orders#1/cut: the request is sent again"},
	{"PATCH repeated after any error", retrying(patch, 3, always, pause), "PATCH_orders_1#1/lost: the request is sent again"},
	{"a new key for each attempt", retrying(postKeyed, 3, always, pause), "POST_orders#1/lost: the request is sent again with another idempotency key"},
	{"POST hedged after a second", hedgedPost, "POST_orders#1/silent: the request is sent again"},
	{"a reader as body, read once", putReader, "PUT_orders_1#1/busy: the request is sent again with 0 of 26 bytes"},
	{"the same request without GetBody", sameRequest, "PUT_orders_1#1/busy: the request is sent again with 0 of 26 bytes"},
	{"a body whose start was read", putSniffed, "PUT_orders_1#1/refused: the test does not fail with the error, connection refused; the request is sent again with 16 of 26 bytes"},
	{"context not in the request", func(_ context.Context, c *http.Client, url string) error {
		return get(context.Background(), c, url)
	}, "GET_orders#1/silent: the request does not end with t.Context"},
	{"sleep without the context", retrying(get, 8, always, func(_ context.Context, n int) error { time.Sleep(time.Second << n); return nil }), "GET_orders#1/silent: "},
	{"one sleep after the context", retrying(get, 2, always, func(context.Context, int) error { time.Sleep(5 * time.Second); return nil }), "GET_orders#1/silent: "},
	{"loop after the context", retrying(get, 1<<30, always, func(context.Context, int) error { return nil }), "GET_orders#1/silent: "},
	{"unbounded after errors", retrying(get, 1<<30, network, pause), "GET_orders#1/lost: the number of attempts is not bounded"},
	{"unbounded after 503", retrying(get, 1<<30, status(503), pause), "GET_orders#1/for-ever: the number of attempts is not bounded"},
	{"unbounded after 429", unboundedThrottling, "GET_orders#1/for-ever: the number of attempts is not bounded"},
	{"unbounded recursion", recursive, "GET_orders#1/for-ever: the number of attempts is not bounded"},
	{"no wait after 503", retrying(get, 4, status(503), func(context.Context, int) error { return nil }), "GET_orders#1/for-ever: retries do not wait"},
	{"no wait after errors", retrying(get, 4, network, func(context.Context, int) error { return nil }), "GET_orders#1/lost: retries do not wait"},
	{"Retry-After ignored", retrying(get, 4, always, pause), "GET_orders#1/busy: the attempt after Retry-After: 2 comes after"},
	{"Retry-After in milliseconds", hinted(func(s int) time.Duration { return time.Duration(s) * time.Millisecond }), "GET_orders#1/busy: the attempt after Retry-After: 2 comes after 2ms"},
	{"Retry-After cut to a second", hinted(func(s int) time.Duration { return min(time.Second, time.Duration(s)*time.Second) }), "GET_orders#1/busy: the attempt after Retry-After: 2 comes after 1s"},
	{"jitter below Retry-After", hinted(func(s int) time.Duration { return time.Duration(rand.Float64() * float64(s) * float64(time.Second)) }), "GET_orders#1/busy: the attempt after Retry-After: 2 comes after"},
	{"attempts in two layers", layered, "GET_orders#1/lost: two layers multiply the attempts, 3 × 3"},
	{"attempts in two layers, the lower one retryhttp", func(ctx context.Context, c *http.Client, url string) error {
		lower := &http.Client{Transport: &retryhttp.Transport{Base: c.Transport, Policy: retry.Policy{Budget: retry.NoBudget{}}}}
		return retrying(get, 3, always, backoff)(ctx, lower, url)
	}, "GET_orders#1/lost: two layers multiply the attempts, 3 × 3"},
	{"read error ignored", readAll, "GET_orders#1/cut: the test "},
	{"scanner without Err", scan, "GET_orders#1/cut: the test "},
	{"download appended to its first part", appended, ""},
	{"the error is replaced", func(ctx context.Context, c *http.Client, url string) error {
		if get(ctx, c, url) != nil {
			return errors.New("something went wrong")
		}
		return nil
	}, "GET_orders#1/refused: the test does not fail with the error"},
	{"response closed before the error is looked at", deferred, "GET_orders#1/refused: there is a panic at programs_test.go"},
	{"unbounded in eight goroutines", func(ctx context.Context, c *http.Client, url string) error {
		return atOnce(8, func(int) error { return retrying(get, 1<<30, always, pause)(ctx, c, url) })
	}, "GET_orders#1/for-ever: the number of attempts is not bounded"},
	{"a 503 is a success", func(ctx context.Context, c *http.Client, url string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/orders", nil)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return errors.Join(err, resp.Body.Close())
	}, "GET_orders#1/for-ever: the test passes although the last response was 503 Service Unavailable"},
	{"a goroutine is left", left, "GET_orders#1/silent: goroutines stay behind"},
}

// sound are programs without a mistake.
var sound = []named{
	{name: "GET without retries", run: get},
	{name: "POST without retries, its body discarded", run: post},
	{name: "download without retries", run: download},
	{name: "GET with backoff", run: retrying(get, 4, always, backoff)},
	{name: "POST with one key", run: func(ctx context.Context, c *http.Client, url string) error {
		key := crand.Text()
		return retrying(func(ctx context.Context, c *http.Client, url string) error {
			return send(ctx, c, "POST", url+"/orders", strings.NewReader(order), key)
		}, 4, always, backoff)(ctx, c, url)
	}},
	{name: "POST again only if refused", run: retrying(post, 4, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }, backoff)},
	{name: "retryhttp", run: func(ctx context.Context, c *http.Client, url string) error {
		client := &http.Client{Transport: &retryhttp.Transport{Base: c.Transport, Policy: retry.Policy{MaxElapsed: time.Minute}}}
		if err := post(ctx, client, url); err != nil {
			return err
		}
		return get(ctx, client, url)
	}},
	{name: "polls until it is done", run: func(ctx context.Context, c *http.Client, url string) error {
		for range 5 {
			if err := get(ctx, c, url); err != nil {
				return err
			}
			if err := sleep(ctx, time.Second); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "metrics at best effort", run: func(ctx context.Context, c *http.Client, url string) error {
		_ = post(ctx, c, url)
		return nil
	}},
	{name: "four POSTs, whatever happens to the others", run: func(ctx context.Context, c *http.Client, url string) (err error) {
		for _, item := range []string{"milk", "soda", "wine", "beer"} {
			err = errors.Join(err, send(ctx, c, "POST", url+"/orders", strings.NewReader(strings.Replace(order, "tea", item, 1)[:len(order)]), ""))
		}
		return err
	}},
	{name: "three at once", run: func(ctx context.Context, c *http.Client, url string) error {
		return atOnce(3, func(i int) error { return retrying(get, 4, always, backoff)(ctx, c, fmt.Sprintf("%s/%d", url, i)) })
	}},
	{name: "three of one path at once", run: func(ctx context.Context, c *http.Client, url string) error {
		return atOnce(3, func(int) error { return retrying(get, 4, always, backoff)(ctx, c, url) })
	}},
	{name: "three POSTs at once, two of them alike", run: func(ctx context.Context, c *http.Client, url string) error {
		return atOnce(3, func(i int) error {
			return send(ctx, c, "POST", url+"/orders", strings.NewReader([]string{order, order, strings.ToUpper(order)}[i]), "")
		})
	}},
}

func atOnce(n int, f func(int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range errs {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

const order = `{"item":"tea","amount":10}`

// shop is a server whose orders are lines of JSON.
func shop() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != "GET" && len(body) != len(order) {
			http.Error(w, "bad body", 400)
			return
		}
		fmt.Fprint(w, orders)
	})
}

const orders = `{"orders":["tea"],
"more":["coffee","milk","bread"]}
`

type statusError struct {
	code  int
	after string
}

func (e statusError) Error() string { return http.StatusText(e.code) + " " + strconv.Itoa(e.code) }

var errBody = errors.New("cannot read body")

func send(ctx context.Context, c *http.Client, method, url string, body io.Reader, key string) error {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return do(c, req)
}

func do(c *http.Client, req *http.Request) error {
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return statusError{resp.StatusCode, resp.Header.Get("Retry-After")}
	}
	if req.Method == "GET" {
		var list any
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			return fmt.Errorf("%w: %w", errBody, err)
		}
		return nil
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return nil
}

func get(ctx context.Context, c *http.Client, url string) error {
	return send(ctx, c, "GET", url+"/orders", nil, "")
}
func post(ctx context.Context, c *http.Client, url string) error {
	return send(ctx, c, "POST", url+"/orders", strings.NewReader(order), "")
}
func patch(ctx context.Context, c *http.Client, url string) error {
	return send(ctx, c, "PATCH", url+"/orders/1", strings.NewReader(order), "")
}
func postKeyed(ctx context.Context, c *http.Client, url string) error {
	return send(ctx, c, "POST", url+"/orders", strings.NewReader(order), crand.Text())
}

func timed(p program) program {
	return func(ctx context.Context, c *http.Client, url string) error {
		return p(ctx, &http.Client{Transport: c.Transport, Timeout: time.Second}, url)
	}
}

// retrying calls p up to n times, as long as again says so, with pauses in between.
func retrying(p program, n int, again func(error) bool, pause func(context.Context, int) error) program {
	return func(ctx context.Context, c *http.Client, url string) (err error) {
		for i := range n {
			if err = p(ctx, c, url); err == nil || !again(err) || i == n-1 {
				return err
			}
			if pauseErr := pause(ctx, i); pauseErr != nil {
				return errors.Join(pauseErr, err)
			}
		}
		return err
	}
}

func always(error) bool { return true }

func network(err error) bool {
	_, answered := errors.AsType[statusError](err)
	return !answered
}

func status(code int) func(error) bool {
	return func(err error) bool {
		s, ok := errors.AsType[statusError](err)
		return ok && s.code == code
	}
}

func timeouts(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && t.Timeout()
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func pause(ctx context.Context, _ int) error { return sleep(ctx, 100*time.Millisecond) }

// backoff waits longer than the hint of the server below.
func backoff(ctx context.Context, n int) error { return sleep(ctx, 2*time.Second<<n) }

func unreadable(err error) bool { return errors.Is(err, errBody) }

// readPost is post with a response that matters.
func readPost(ctx context.Context, c *http.Client, url string) error {
	resp, err := c.Post(url+"/orders", "application/json", strings.NewReader(order))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var list any
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	return nil
}

func hedgedPost(ctx context.Context, c *http.Client, url string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan error, 2)
	go func() { first <- post(ctx, c, url) }()
	select {
	case err := <-first:
		return err
	case <-time.After(time.Second):
		go func() { first <- post(ctx, c, url) }()
		return <-first
	}
}

func putReader(ctx context.Context, c *http.Client, url string) error {
	body := bufio.NewReader(strings.NewReader(order))
	return retrying(func(ctx context.Context, c *http.Client, url string) error {
		return send(ctx, c, "PUT", url+"/orders/1", body, "")
	}, 3, always, backoff)(ctx, c, url)
}

func sameRequest(ctx context.Context, c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, "PUT", url+"/orders/1", io.MultiReader(strings.NewReader(order)))
	if err != nil {
		return err
	}
	return retrying(func(context.Context, *http.Client, string) error { return do(c, req) }, 3, always, backoff)(ctx, c, url)
}

func putSniffed(ctx context.Context, c *http.Client, url string) error {
	body := strings.NewReader(order)
	return retrying(func(ctx context.Context, c *http.Client, url string) error {
		start := make([]byte, 10)
		n, _ := io.ReadFull(body, start)
		return send(ctx, c, "PUT", url+"/orders/1", io.MultiReader(bytes.NewReader(start[:n]), body), "")
	}, 3, always, backoff)(ctx, c, url)
}

func unboundedThrottling(ctx context.Context, c *http.Client, url string) error {
	for attempt := 0; ; {
		err := get(ctx, c, url)
		if status(429)(err) {
			if err := sleep(ctx, 3*time.Second); err != nil {
				return err
			}
			continue
		}
		if attempt++; err == nil || attempt == 4 {
			return err
		}
		if err := backoff(ctx, attempt); err != nil {
			return err
		}
	}
}

func recursive(ctx context.Context, c *http.Client, url string) error {
	err := get(ctx, c, url)
	if status(503)(err) {
		if err := backoff(ctx, 1); err != nil {
			return err
		}
		return recursive(ctx, c, url)
	}
	return err
}

func hinted(wait func(seconds int) time.Duration) program {
	return func(ctx context.Context, c *http.Client, url string) error {
		var after time.Duration
		return retrying(func(ctx context.Context, c *http.Client, url string) error {
			err := get(ctx, c, url)
			after = time.Second
			if s, ok := errors.AsType[statusError](err); ok && s.after != "" {
				seconds, _ := strconv.Atoi(s.after)
				after = wait(seconds)
			}
			return err
		}, 4, always, func(ctx context.Context, _ int) error { return sleep(ctx, after) })(ctx, c, url)
	}
}

// again is a RoundTripper that makes three attempts.
type again struct{ http.RoundTripper }

func (a again) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	for n := range 3 {
		resp, err = a.RoundTripper.RoundTrip(req)
		if err == nil && resp.StatusCode < 500 && resp.StatusCode != 429 {
			return resp, nil
		}
		if n < 2 {
			if err == nil {
				resp.Body.Close()
			}
			if err := backoff(req.Context(), n); err != nil {
				return nil, err
			}
		}
	}
	return resp, err
}

func layered(ctx context.Context, c *http.Client, url string) error {
	return retrying(get, 3, always, backoff)(ctx, &http.Client{Transport: again{c.Transport}}, url)
}

func body(ctx context.Context, c *http.Client, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/orders", nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != 200 {
		resp.Body.Close()
		return nil, statusError{code: resp.StatusCode}
	}
	return resp.Body, nil
}

func readAll(ctx context.Context, c *http.Client, url string) error {
	body, err := body(ctx, c, url)
	if err != nil {
		return err
	}
	defer body.Close()
	text, _ := io.ReadAll(body)
	if !strings.HasPrefix(orders, string(text)) {
		return fmt.Errorf("got %q", text)
	}
	return nil
}

func scan(ctx context.Context, c *http.Client, url string) error {
	body, err := body(ctx, c, url)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := 0
	for s := bufio.NewScanner(body); s.Scan(); {
		lines++
	}
	if lines != strings.Count(orders, "\n") {
		return fmt.Errorf("got %d lines", lines)
	}
	return nil
}

func download(ctx context.Context, c *http.Client, url string) error {
	body, err := body(ctx, c, url)
	if err != nil {
		return err
	}
	defer body.Close()
	var file bytes.Buffer
	if _, err := io.Copy(&file, body); err != nil {
		return err
	}
	if file.String() != orders {
		return fmt.Errorf("got %q", file.String())
	}
	return nil
}

func appended(ctx context.Context, c *http.Client, url string) error {
	var file bytes.Buffer
	err := retrying(func(ctx context.Context, c *http.Client, url string) error {
		body, err := body(ctx, c, url)
		if err != nil {
			return err
		}
		defer body.Close()
		_, err = io.Copy(&file, body)
		return err
	}, 3, always, backoff)(ctx, c, url)
	if err == nil && file.String() != orders {
		return fmt.Errorf("got %q", file.String())
	}
	return err
}

func deferred(ctx context.Context, c *http.Client, url string) error {
	resp, err := c.Get(url + "/orders")
	defer func() { _ = resp.Body.Close() }()
	if err != nil {
		return err
	}
	return nil
}

func left(ctx context.Context, c *http.Client, url string) error {
	result := make(chan error)
	go func() { result <- get(ctx, c, url) }()
	select {
	case err := <-result:
		return err
	case <-time.After(time.Second):
		return errors.New("timeout")
	}
}
