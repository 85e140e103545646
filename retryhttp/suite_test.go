package retryhttp_test

// This file runs the test cases of github.com/hashicorp/go-retryablehttp v0.7.8
// (client_test.go, roundtripper_test.go) with a Transport and a real server. Where the
// libraries deliberately differ, the comment describes go-retryablehttp.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

// suiteServer sends scripted responses; the last one repeats.
type suiteServer struct {
	*httptest.Server
	mu       sync.Mutex
	script   []suiteResponse
	requests []suiteRequest
}

type suiteResponse struct {
	status int
	header map[string]string
	body   string
}

type suiteRequest struct {
	method, uri, body string
	header            http.Header
	length            int64
}

func newSuiteServer(t *testing.T, script ...suiteResponse) *suiteServer {
	s := suiteServerOf(script...)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func suiteServerOf(script ...suiteResponse) *suiteServer {
	s := &suiteServer{script: script}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

func suiteStatuses(statuses ...int) []suiteResponse {
	var script []suiteResponse
	for _, status := range statuses {
		script = append(script, suiteResponse{status: status, body: "the response " + strconv.Itoa(status)})
	}
	return script
}

func (s *suiteServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, suiteRequest{r.Method, r.RequestURI, string(body), r.Header, r.ContentLength})
	response := s.script[min(len(s.requests), len(s.script))-1]
	for name, value := range response.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(response.status)
	_, _ = io.WriteString(w, response.body) // fails for statuses that allow no body, such as 304
}

func (s *suiteServer) seen() []suiteRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *suiteServer) transport(p retry.Policy) *retryhttp.Transport {
	if p.Clock == nil {
		p.Clock = &retrytest.Clock{}
	}
	return &retryhttp.Transport{Base: s.Client().Transport, Policy: p}
}

func suiteRequestOf(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	require.NoError(t, err)
	return req
}

func suiteSend(t *testing.T, rt http.RoundTripper, req *http.Request) (int, string) {
	t.Helper()
	resp, err := (&http.Client{Transport: rt}).Do(req)
	require.NoError(t, err)
	return suiteRead(t, resp)
}

func suiteRead(t *testing.T, resp *http.Response) (int, string) {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(body)
}

func suiteFail(t *testing.T, rt http.RoundTripper, req *http.Request) error {
	t.Helper()
	resp, err := (&http.Client{Transport: rt}).Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	require.Error(t, err)
	return err
}

func suiteAttempts(p retry.Policy, count *int) retry.Policy {
	p.OnAttempt = func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
		*count++
		return nil, nil
	}
	return p
}

func TestSuiteRequest(t *testing.T) {
	for name, content := range map[string]string{"without a body": "", "with a body": "yo"} {
		t.Run(name, func(t *testing.T) {
			s := newSuiteServer(t, suiteStatuses(503, 200)...)
			var body io.Reader
			if content != "" {
				body = strings.NewReader(content)
			}
			req := suiteRequestOf(t, http.MethodGet, s.URL, body)
			req.Header.Set("X-Test", "foo")
			status, _ := suiteSend(t, s.transport(retry.Policy{}), req)
			assert.Equal(t, 200, status)
			require.Len(t, s.seen(), 2)
			for _, got := range s.seen() {
				assert.Equal(t, "foo", got.header.Get("X-Test"))
				assert.Equal(t, int64(len(content)), got.length)
				assert.Equal(t, content, got.body)
			}
			assert.Equal(t, http.Header{"X-Test": {"foo"}}, req.Header, "the caller's request")
		})
	}
	t.Run("invalid", func(t *testing.T) {
		attempts := 0
		tr := &retryhttp.Transport{Policy: suiteAttempts(retry.Policy{}, &attempts)}
		_, err := tr.RoundTrip(&http.Request{Method: http.MethodGet, Header: http.Header{}})
		assert.ErrorContains(t, err, "nil Request.URL")
		assert.Equal(t, 1, attempts)
	})
	t.Run("with a context", func(t *testing.T) {
		type key struct{}
		s := newSuiteServer(t, suiteStatuses(200)...)
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			assert.Equal(t, "value", r.Context().Value(key{}))
			return s.Client().Transport.RoundTrip(r)
		})
		req := suiteRequestOf(t, http.MethodGet, s.URL, nil)
		suiteSend(t, &retryhttp.Transport{Base: base}, req.WithContext(context.WithValue(t.Context(), key{}, "value")))
	})
}

type suiteStream struct{ io.Reader }

type suiteBody struct {
	body    io.Reader
	getBody func() (io.ReadCloser, error)
	buffer  int64
	once    bool
}

func suiteBodies() map[string]suiteBody {
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("hello")), nil }
	return map[string]suiteBody{
		"function, as GetBody":      {body: suiteStream{strings.NewReader("hello")}, getBody: open},
		"function of another type":  {body: suiteStream{strings.NewReader("hello")}, getBody: func() (io.ReadCloser, error) { return open() }},
		"bytes, in a Reader":        {body: bytes.NewReader([]byte("hello"))},
		"bytes.Buffer":              {body: bytes.NewBufferString("hello")},
		"bytes.Reader":              {body: bytes.NewReader([]byte("hello"))},
		"io.ReadSeeker":             {body: strings.NewReader("hello")},
		"io.Reader, with MaxBuffer": {body: suiteStream{strings.NewReader("hello")}, buffer: 5},
		// go-retryablehttp reads the body into memory and retries.
		"io.Reader": {body: suiteStream{strings.NewReader("hello")}, once: true},
	}
}

// TestSuiteBodies: the server is absent at first, then fails, then succeeds.
func TestSuiteBodies(t *testing.T) {
	for name, tt := range suiteBodies() {
		t.Run(name, func(t *testing.T) {
			s := newSuiteServer(t, suiteStatuses(500, 500, 200)...)
			var numbers []int
			tr := s.transport(retry.Policy{MaxAttempts: 50, Hooks: retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
				numbers = append(numbers, failed.Number)
			}}})
			tr.Base, tr.MaxBuffer = suiteAbsent(s, 2), tt.buffer
			req := suiteRequestOf(t, http.MethodPut, s.URL+"/v1/foo", tt.body)
			req.Header.Set("foo", "bar")
			if tt.getBody != nil {
				req.GetBody = tt.getBody
			}
			if tt.once {
				err := suiteFail(t, tr, req)
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				assert.ErrorIs(t, err, syscall.ECONNREFUSED)
				return
			}
			status, _ := suiteSend(t, tr, req)
			assert.Equal(t, 200, status)
			assert.Equal(t, []int{1, 2, 3, 4}, numbers)
			require.Len(t, s.seen(), 3)
			for _, got := range s.seen() {
				assert.Equal(t, [...]string{"PUT", "/v1/foo", "hello", "bar"}, [...]string{got.method, got.uri, got.body, got.header.Get("foo")})
			}
		})
	}
}

// suiteAbsent refuses the first connections. It creates the error itself, because
// another program could start to listen on a port that is unused now.
func suiteAbsent(s *suiteServer, refusals int) *http.Transport {
	base := s.Client().Transport.(*http.Transport)
	var mu sync.Mutex
	base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		if refusals--; refusals >= 0 {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return base
}

var (
	errSuiteAgain = errors.New("failure that may pass")
	errSuiteNever = errors.New("failure that will not pass")

	suiteHandled = []struct {
		name     string
		handler  func(attempt int) error
		attempts int
		err      error
	}{
		{"no handler", nil, 1, nil},
		{"always successful", func(int) error { return nil }, 1, nil},
		{"always retryable", func(int) error { return errSuiteAgain }, 3, errSuiteAgain},
		{"never retryable", func(int) error { return errSuiteNever }, 1, errSuiteNever},
		{"successful the second time", func(attempt int) error {
			if attempt == 1 {
				return errSuiteAgain
			}
			return nil
		}, 2, nil},
	}
)

// TestSuiteResponseHandler: go-retryablehttp runs a response handler in its loop and
// drops the handler's last error. Here the handler runs in an operation of retry.Do,
// without a Transport.
func TestSuiteResponseHandler(t *testing.T) {
	for _, tt := range suiteHandled {
		t.Run(tt.name, func(t *testing.T) {
			s := newSuiteServer(t, suiteStatuses(200)...)
			attempt := 0
			err := retry.Do(t.Context(), retry.Policy{Clock: &retrytest.Clock{}}, func(ctx context.Context) error {
				attempt++
				resp, err := s.Client().Do(suiteRequestOf(t, http.MethodGet, s.URL, nil).WithContext(ctx))
				if err != nil {
					return err
				}
				suiteRead(t, resp)
				if tt.handler == nil {
					return nil
				}
				if err = tt.handler(attempt); err == errSuiteNever {
					return retry.Permanent(err)
				}
				return err
			})
			assert.Equal(t, tt.attempts, attempt)
			assert.Len(t, s.seen(), tt.attempts)
			assert.ErrorIs(t, err, tt.err)
		})
	}
}

// TestSuitePrepareRetry: go-retryablehttp's hook changes the caller's request before a
// retry. Here a Base changes a copy.
func TestSuitePrepareRetry(t *testing.T) {
	for _, tt := range []struct {
		name     string
		script   []int
		prepared []string // a header's value in each attempt
	}{
		{"no failure", []int{200}, []string{""}},
		{"success, 204", []int{204}, []string{""}},
		{"always retryable", []int{503}, []string{"", "1", "2"}},
		{"never retryable", []int{404}, []string{""}},
		{"successful the second time", []int{503, 200}, []string{"", "1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSuiteServer(t, suiteStatuses(tt.script...)...)
			tr := s.transport(retry.Policy{})
			tr.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
				if n := retryhttp.AttemptNumber(r.Context()); n > 1 {
					r = r.Clone(r.Context())
					r.Header.Set("foo", strconv.Itoa(n-1))
				}
				return s.Client().Transport.RoundTrip(r)
			})
			req := suiteRequestOf(t, http.MethodGet, s.URL, nil)
			suiteSend(t, tr, req)
			var prepared []string
			for _, got := range s.seen() {
				prepared = append(prepared, got.header.Get("foo"))
			}
			assert.Equal(t, tt.prepared, prepared)
			assert.Empty(t, req.Header, "the caller's request")
		})
	}
}

// TestSuiteFails: go-retryablehttp retries a POST after 500 and replaces the last
// response with an error, so its body is lost.
func TestSuiteFails(t *testing.T) {
	for name, tt := range map[string]struct {
		method   string
		attempts int
		reason   error
	}{
		"POST": {http.MethodPost, 1, retry.ErrUnrepeatable},
		"PUT":  {http.MethodPut, 3, retry.ErrMaxAttempts},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSuiteServer(t, suiteStatuses(500)...)
			p := retry.Policy{Hooks: retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) {
				assert.Equal(t, tt.reason, e.Reason)
				assert.Equal(t, tt.attempts, e.Attempts)
				assert.EqualError(t, e.Err, "500 Internal Server Error")
			}}}
			status, body := suiteSend(t, s.transport(p), suiteRequestOf(t, tt.method, s.URL, nil))
			assert.Equal(t, 500, status)
			assert.Equal(t, "the response 500", body)
			assert.Len(t, s.seen(), tt.attempts)
		})
	}
	t.Run("password in the URL", func(t *testing.T) {
		s := newSuiteServer(t, suiteStatuses(500)...)
		tr := s.transport(retry.Policy{})
		tr.Base = suiteAbsent(s, 3)
		req := suiteRequestOf(t, http.MethodPost, strings.Replace(s.URL, "//", "//user:pasten@", 1), nil)
		err := suiteFail(t, tr, req)
		assert.ErrorContains(t, err, "user:***@")
		assert.ErrorContains(t, err, "gave up after 3 attempts")
		assert.NotContains(t, err.Error(), "pasten")
	})
}

// TestSuiteMethods: after a 429, even a POST is retried.
func TestSuiteMethods(t *testing.T) {
	for _, script := range [][]int{{200}, {429, 200}} {
		for name, tt := range map[string]struct {
			send func(c *http.Client, url string) (*http.Response, error)
			want [4]string // method, URI, Content-Type, body
		}{
			"Get":  {(*http.Client).Get, [4]string{"GET", "/foo/bar", "", ""}},
			"Head": {(*http.Client).Head, [4]string{"HEAD", "/foo/bar", "", ""}},
			"Post": {func(c *http.Client, url string) (*http.Response, error) {
				return c.Post(url, "application/json", strings.NewReader(`{"hello":"world"}`))
			}, [4]string{"POST", "/foo/bar", "application/json", `{"hello":"world"}`}},
			"PostForm": {func(c *http.Client, address string) (*http.Response, error) {
				return c.PostForm(address, url.Values{"hello": {"world"}})
			}, [4]string{"POST", "/foo/bar", "application/x-www-form-urlencoded", "hello=world"}},
		} {
			t.Run(name+"/"+strconv.Itoa(script[0]), func(t *testing.T) {
				s := newSuiteServer(t, suiteStatuses(script...)...)
				resp, err := tt.send(&http.Client{Transport: s.transport(retry.Policy{})}, s.URL+"/foo/bar")
				require.NoError(t, err)
				status, _ := suiteRead(t, resp)
				assert.Equal(t, 200, status)
				require.Len(t, s.seen(), len(script))
				for _, got := range s.seen() {
					assert.Equal(t, tt.want, [...]string{got.method, got.uri, got.header.Get("Content-Type"), got.body})
				}
			})
		}
	}
}

// TestSuiteRequestHook: go-retryablehttp's hook also gets a logger, which may be nil in
// several ways. Here hooks may be nil and may return nil.
func TestSuiteRequestHook(t *testing.T) {
	type hook = func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt))
	var numbers []int
	note := func(a retry.Attempt) { numbers = append(numbers, a.Number) }
	for name, tt := range map[string]struct {
		hook hook
		want []int
	}{
		"no hook": {nil, nil},
		"hook that returns nothing": {func(_ context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			note(a)
			return nil, nil
		}, []int{1, 2}},
		"hook that returns a context": {func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			note(a)
			return context.WithoutCancel(ctx), nil
		}, []int{1, 2}},
		"hook that returns a function": {func(_ context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			return nil, note
		}, []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			numbers = nil
			s := newSuiteServer(t, suiteStatuses(503, 200)...)
			tr := s.transport(retry.Policy{Hooks: retry.Hooks{OnAttempt: tt.hook}})
			dumps := 0
			tr.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
				dump, err := httputil.DumpRequestOut(r, false)
				assert.NoError(t, err)
				assert.Contains(t, string(dump), "GET /foo/bar")
				dumps++
				return s.Client().Transport.RoundTrip(r)
			})
			suiteSend(t, tr, suiteRequestOf(t, http.MethodGet, s.URL+"/foo/bar", nil))
			assert.Equal(t, tt.want, numbers)
			assert.Equal(t, 2, dumps)
		})
	}
}

// TestSuiteResponseHook: go-retryablehttp's hook may read the body of a failure. Here
// only a Base may read it.
func TestSuiteResponseHook(t *testing.T) {
	for name, tt := range map[string]struct{ hook, base bool }{
		"no hook":                  {},
		"hook":                     {hook: true},
		"base that reads":          {base: true},
		"hook and base that reads": {hook: true, base: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSuiteServer(t, suiteStatuses(500, 500, 200)...)
			var seen, read []string
			var p retry.Policy
			if tt.hook {
				p.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
					seen = append(seen, failed.Err.Error())
				}
			}
			tr := s.transport(p)
			if tt.base {
				tr.Base = suiteReader(s.Client().Transport, &read)
			}
			status, body := suiteSend(t, tr, suiteRequestOf(t, http.MethodGet, s.URL, nil))
			assert.Equal(t, 200, status)
			assert.Equal(t, "the response 200", body)
			if tt.hook {
				assert.Equal(t, []string{"500 Internal Server Error", "500 Internal Server Error"}, seen)
			}
			if tt.base {
				assert.Equal(t, []string{"the response 500", "the response 500"}, read)
			}
		})
	}
}

func suiteReader(base http.RoundTripper, read *[]string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := base.RoundTrip(r)
		if err != nil || resp.StatusCode < 400 {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		*read = append(*read, string(body))
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, err
	})
}

// TestSuiteCanceled: go-retryablehttp counts a call whose context has already ended as
// an attempt.
func TestSuiteCanceled(t *testing.T) {
	s := newSuiteServer(t, suiteStatuses(200)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tr := s.transport(retry.Policy{Classifier: retry.ClassifierFunc(func(error) retry.Verdict {
		t.Error("the Classifier was called")
		return retry.Verdict{Class: retry.ClassUnknown}
	})})
	err := suiteFail(t, tr, suiteRequestOf(t, http.MethodGet, s.URL, nil).WithContext(ctx))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, s.seen())
}

// TestSuiteClassifier: in go-retryablehttp, a function decides whether to retry and may
// replace the error.
func TestSuiteClassifier(t *testing.T) {
	for name, tt := range map[string]struct {
		script   []int
		classes  []retry.Class
		attempts int
		status   int
	}{
		"stops after the second": {[]int{500}, []retry.Class{retry.ClassUnknown, retry.ClassPermanent}, 2, 500},
		"stops after the first":  {[]int{500}, []retry.Class{retry.ClassPermanent}, 1, 500},
		"continues after 404": {[]int{404, 404, 200}, []retry.Class{retry.ClassTransient, retry.ClassTransient},
			3, 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSuiteServer(t, suiteStatuses(tt.script...)...)
			asked := 0
			p := retry.Policy{Classifier: retry.ClassifierFunc(func(err error) retry.Verdict {
				assert.IsType(t, &retryhttp.StatusError{}, err)
				asked++
				return retry.Verdict{Class: tt.classes[asked-1]}
			})}
			status, body := suiteSend(t, s.transport(p), suiteRequestOf(t, http.MethodGet, s.URL, nil))
			assert.Equal(t, tt.status, status)
			assert.Equal(t, "the response "+strconv.Itoa(tt.status), body)
			assert.Equal(t, len(tt.classes), asked)
			assert.Len(t, s.seen(), tt.attempts)
		})
	}
}

func TestSuiteMalformed(t *testing.T) {
	for name, tt := range map[string]struct {
		tls    bool
		change func(*http.Request)
		says   string
	}{
		"untrusted certificate": {tls: true, change: func(*http.Request) {}, says: "certificate"},
		"scheme":                {change: func(r *http.Request) { r.URL.Scheme = "ftp" }, says: "unsupported protocol scheme"},
		"header name":           {change: func(r *http.Request) { r.Header["Header-Name-\033"] = []string{"value"} }, says: "invalid header"},
		"header value":          {change: func(r *http.Request) { r.Header.Set("Header-Name", "bad \033") }, says: "invalid header"},
	} {
		t.Run(name, func(t *testing.T) {
			s := suiteServerOf(suiteStatuses(200)...)
			if tt.tls {
				s.StartTLS()
			} else {
				s.Start()
			}
			t.Cleanup(s.Close)
			attempts := 0
			tr := s.transport(suiteAttempts(retry.Policy{}, &attempts))
			base := &http.Transport{} // without the certificate
			defer base.CloseIdleConnections()
			tr.Base = base
			req := suiteRequestOf(t, http.MethodGet, s.URL, nil)
			tt.change(req)
			assert.ErrorContains(t, suiteFail(t, tr, req), tt.says)
			assert.Equal(t, 1, attempts)
			assert.Empty(t, s.seen())
		})
	}
}

// TestSuiteRedirects: go-retryablehttp follows redirects within an attempt. Here each
// redirect is a request with its own attempts.
func TestSuiteRedirects(t *testing.T) {
	t.Run("redirect loop", func(t *testing.T) {
		s := newSuiteServer(t, suiteResponse{status: 302, header: map[string]string{"Location": "/"}})
		var p retry.Policy
		p.OnAttempt = func(_ context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			assert.Equal(t, 1, a.Number)
			return nil, nil
		}
		err := suiteFail(t, s.transport(p), suiteRequestOf(t, http.MethodGet, s.URL, nil))
		assert.ErrorContains(t, err, "stopped after 10 redirects")
		assert.Len(t, s.seen(), 10)
	})
	for name, content := range map[string]string{"with a body": `{"foo":"bar"}`, "without a body": ""} {
		t.Run(name, func(t *testing.T) {
			s := newSuiteServer(t, suiteResponse{status: 307, header: map[string]string{"Location": "/target"}}, suiteResponse{status: 429}, suiteResponse{status: 201})
			var body io.Reader
			if content != "" {
				body = strings.NewReader(content)
			}
			tr := s.transport(retry.Policy{})
			tr.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.GetBody != nil { // go-retryablehttp keeps it
					_, err := r.GetBody()
					assert.Error(t, err)
				}
				return s.Client().Transport.RoundTrip(r)
			})
			status, _ := suiteSend(t, tr, suiteRequestOf(t, http.MethodPost, s.URL+"/redirect", body))
			assert.Equal(t, 201, status)
			var seen [][3]string
			for _, got := range s.seen() {
				seen = append(seen, [3]string{got.method, got.uri, got.body})
			}
			assert.Equal(t, [][3]string{{"POST", "/redirect", content}, {"POST", "/target", content}, {"POST", "/target", content}}, seen)
		})
	}
}

const suiteNow = "Fri, 31 Dec 1999 23:59:57 GMT"

// TestSuiteRetryAfter: go-retryablehttp distinguishes 0 from a missing header.
func TestSuiteRetryAfter(t *testing.T) {
	now, err := http.ParseTime(suiteNow)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		values []string
		want   time.Duration
	}{
		"seconds":                 {[]string{"2"}, 2 * time.Second},
		"date":                    {[]string{"Fri, 31 Dec 1999 23:59:59 GMT"}, 2 * time.Second},
		"past date":               {[]string{"Fri, 31 Dec 1999 23:59:00 GMT"}, 0},
		"none":                    {nil, 0},
		"two":                     {[]string{"2", "3"}, 3 * time.Second},
		"empty":                   {[]string{""}, 0},
		"negative":                {[]string{"-2"}, 0},
		"invalid date":            {[]string{"Fri, 32 Dec 1999 23:59:59 GMT"}, 0},
		"neither date nor number": {[]string{"badbadbad"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			resp := &http.Response{StatusCode: 503, Header: http.Header{}}
			if tt.values != nil {
				resp.Header["Retry-After"] = tt.values
			}
			assert.Equal(t, tt.want, retryhttp.RetryAfter(resp, now))
		})
	}
}

// TestSuiteWaits: go-retryablehttp honors Retry-After only with 429 and 503, and waits
// for exactly that time.
func TestSuiteWaits(t *testing.T) {
	second := retry.Constant(time.Second)
	random := retry.FullJitter{Base: 5 * time.Second} // 0 with the test's random number
	for _, tt := range []struct {
		name    string
		status  int
		after   string
		backoff retry.Backoff
		want    time.Duration
	}{
		{"429, seconds, default", 429, "2", nil, 2 * time.Second},
		{"429, date, default", 429, "Fri, 31 Dec 1999 23:59:59 GMT", nil, 2 * time.Second},
		{"503, seconds, default", 503, "2", nil, 2 * time.Second},
		{"503, date, default", 503, "Fri, 31 Dec 1999 23:59:59 GMT", nil, 2 * time.Second},
		{"429, no header", 429, "", second, time.Second},
		{"503, no header", 503, "", second, time.Second},
		{"502, no header", 502, "", second, time.Second},
		{"429, header", 429, "2", second, 2 * time.Second},
		{"503, header", 503, "2", second, 2 * time.Second},
		{"429, header, with jitter", 429, "2", random, 2 * time.Second},
		{"429, header, longer than the shortest delay", 429, "2", retry.Exponential{Base: time.Second, Cap: 10 * time.Second}, 2 * time.Second},
		// go-retryablehttp ignores the header and waits for a second.
		{"502, header", 502, "2", second, 2 * time.Second},
		// go-retryablehttp waits for two seconds.
		{"429, header, shorter than the shortest delay", 429, "2", retry.Constant(5 * time.Second), 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			failure := suiteResponse{status: tt.status, header: map[string]string{"Date": suiteNow}}
			if tt.after != "" {
				failure.header["Retry-After"] = tt.after
			}
			s := newSuiteServer(t, failure, suiteResponse{status: 200})
			clock := &retrytest.Clock{}
			tr := s.transport(retry.Policy{Backoff: tt.backoff, Clock: clock, Rand: retrytest.Fixed(0)})
			status, _ := suiteSend(t, tr, suiteRequestOf(t, http.MethodGet, s.URL, nil))
			assert.Equal(t, 200, status)
			assert.Equal(t, []time.Duration{tt.want}, clock.Waits())
		})
	}
}

// TestSuiteRetryAfterJitter: go-retryablehttp adds no jitter, so all clients of a
// server retry together.
func TestSuiteRetryAfterJitter(t *testing.T) {
	s := newSuiteServer(t, suiteResponse{status: 503, header: map[string]string{"Retry-After": "2"}}, suiteResponse{status: 200})
	clock := &retrytest.Clock{}
	suiteSend(t, s.transport(retry.Policy{Clock: clock, Rand: retrytest.Fixed(0.5)}), suiteRequestOf(t, http.MethodGet, s.URL, nil))
	assert.Equal(t, []time.Duration{2100 * time.Millisecond}, clock.Waits())
}

func TestSuiteBackoff(t *testing.T) {
	const attempts = 130
	waits := func(t *testing.T, b retry.Backoff) []time.Duration {
		s := newSuiteServer(t, suiteResponse{status: 503})
		clock := &retrytest.Clock{}
		tr := s.transport(retry.Policy{MaxAttempts: attempts, Backoff: b, Clock: clock})
		tr.PerHost = retryhttp.Unbudgeted()
		status, _ := suiteSend(t, tr, suiteRequestOf(t, http.MethodGet, s.URL, nil))
		assert.Equal(t, 503, status)
		assert.Len(t, s.seen(), attempts)
		return clock.Waits()
	}
	exponential := waits(t, retry.Exponential{Base: time.Second, Cap: 5 * time.Minute})
	require.Len(t, exponential, attempts-1)
	for _, tt := range []struct {
		retry int
		want  time.Duration
	}{
		{0, time.Second}, {1, 2 * time.Second}, {2, 4 * time.Second}, {3, 8 * time.Second},
		{63, 5 * time.Minute}, {128, 5 * time.Minute},
	} {
		t.Run("retry "+strconv.Itoa(tt.retry), func(t *testing.T) {
			assert.Equal(t, tt.want, exponential[tt.retry])
		})
	}
	t.Run("default with jitter", func(t *testing.T) {
		distinct := map[time.Duration]bool{}
		for _, wait := range waits(t, nil) {
			assert.LessOrEqual(t, wait, 20*time.Second)
			distinct[wait] = true
		}
		assert.Greater(t, len(distinct), attempts/2)
	})
}

type suiteMillisecond struct{}

func (suiteMillisecond) Delay(retry.Attempt, float64) time.Duration { return time.Millisecond }

func TestSuiteCustomBackoff(t *testing.T) {
	s := newSuiteServer(t, suiteStatuses(500, 500, 500, 500, 200)...)
	clock := &retrytest.Clock{}
	tr := s.transport(retry.Policy{MaxAttempts: 5, Backoff: suiteMillisecond{}, Clock: clock})
	status, _ := suiteSend(t, tr, suiteRequestOf(t, http.MethodGet, s.URL+"/foo/bar", nil))
	assert.Equal(t, 200, status)
	assert.Equal(t, []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond}, clock.Waits())
}

func TestSuiteClient(t *testing.T) {
	t.Run("NewClient", func(t *testing.T) {
		client := retryhttp.NewClient(retry.Policy{MaxAttempts: 7})
		require.IsType(t, &retryhttp.Transport{}, client.Transport)
		assert.Equal(t, 7, client.Transport.(*retryhttp.Transport).Policy.MaxAttempts)
	})
	t.Run("implements RoundTripper", func(t *testing.T) {
		assert.Implements(t, (*http.RoundTripper)(nil), &retryhttp.Transport{})
	})
	// go-retryablehttp's RoundTripper sets its Client field on first use.
	t.Run("zero value", func(t *testing.T) {
		s := newSuiteServer(t, suiteStatuses(200)...)
		var tr retryhttp.Transport
		for range 2 {
			status, _ := suiteSend(t, &tr, suiteRequestOf(t, http.MethodGet, s.URL, nil))
			assert.Equal(t, 200, status)
		}
		assert.Nil(t, tr.Base)
		assert.Len(t, s.seen(), 2)
	})
}

// TestSuiteNoSuchHost: an unknown name is looked up again, as in go-retryablehttp,
// because a starting service has no name yet.
func TestSuiteNoSuchHost(t *testing.T) {
	attempts := 0
	unknown := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Name: "999.999.999.999", Err: "no such host", IsNotFound: true}}
	tr := &retryhttp.Transport{
		Policy: suiteAttempts(retry.Policy{Clock: &retrytest.Clock{}}, &attempts),
		// A resolver's responses would be beyond the test's control.
		Base: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, unknown }},
	}
	_, err := (&http.Client{Transport: tr}).Get("http://999.999.999.999:999/")
	require.ErrorIs(t, err, unknown)
	require.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 3, attempts)
}
