package retryhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhttp"
)

// TestForeignStatusError: the Transport does not close a response inside a Base's
// error.
func TestForeignStatusError(t *testing.T) {
	foreign := &body{Reader: strings.NewReader("content")}
	for _, resp := range []*http.Response{{StatusCode: 503}, {StatusCode: 503, Body: foreign}} {
		base := roundTripper(func(*http.Request) (*http.Response, error) { return nil, retryhttp.CheckStatus(resp) })
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	}
	assert.Zero(t, foreign.closed)
	assert.Equal(t, 7, foreign.Len())
}

// TestHookReadsBody: a hook that reads or closes the body of a failed response, which it must not,
// takes nothing from the caller.
func TestHookReadsBody(t *testing.T) {
	base := roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 503, Body: io.NopCloser(strings.NewReader("closed for lunch"))}, nil
	})
	policy := quick()
	hooked := 0
	policy.OnGiveUp = func(_ context.Context, e *retry.Error) {
		failed, ok := errors.AsType[*retryhttp.StatusError](e)
		require.True(t, ok)
		text, err := io.ReadAll(failed.Response.Body)
		assert.ErrorContains(t, err, "the body belongs to the caller")
		assert.Empty(t, text)
		assert.NoError(t, failed.Response.Body.Close())
		hooked++
	}
	resp, err := (&retryhttp.Transport{Base: base, Policy: policy}).RoundTrip(request(t, "GET", ""))
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "closed for lunch", string(text))
	assert.Equal(t, 1, hooked)
}

func TestCheckStatusBelow(t *testing.T) {
	server := flaky(503, 503)
	defer server.Close()
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: http.NoBody}, retry.Do(req.Context(), quick(), func(ctx context.Context) error {
			token, err := http.NewRequestWithContext(ctx, "GET", server.URL, nil)
			require.NoError(t, err)
			resp, err := http.DefaultTransport.RoundTrip(token)
			require.NoError(t, err)
			defer resp.Body.Close()
			return retryhttp.CheckStatus(resp)
		})
	})
	for _, method := range []string{"GET", "POST"} {
		resp, err := (&retryhttp.Transport{Base: base}).RoundTrip(request(t, method, ""))
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
	}
}

var errGraphQL = errors.New("errors in the response")

// TestCheckReadsNoMore: peek does not wait for more of the body than it needs, and does not
// read again after an error.
func TestCheckReadsNoMore(t *testing.T) {
	broken := errors.New("broken")
	read := 0
	base := roundTripper(func(*http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader("res"), strings.NewReader("ponse"), failingReader{broken}, strings.NewReader("more"))
		return &http.Response{StatusCode: 200, Body: io.NopCloser(io.TeeReader(body, counter{&read}))}, nil
	})
	_, err := (&retryhttp.Transport{Base: base, Policy: quick(), Check: func(_ *http.Response, peek func(int) ([]byte, error)) error {
		for _, step := range []struct{ n, read int }{{3, 3}, {5, 8}, {2, 8}, {8, 8}} {
			data, err := peek(step.n)
			require.NoError(t, err)
			assert.Equal(t, "response"[:step.n], string(data))
			assert.Equal(t, step.read, read)
		}
		for range 2 {
			data, err := peek(100)
			assert.ErrorIs(t, err, broken)
			assert.Equal(t, "response", string(data))
		}
		return nil
	}}).RoundTrip(request(t, "GET", ""))
	require.NoError(t, err)
}

type counter struct{ n *int }

func (c counter) Write(p []byte) (int, error) {
	*c.n += len(p)
	return len(p), nil
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, method string
		found        error
		sent         int
	}{
		{"nothing", "GET", nil, 1},
		{"failure, GET", "GET", errGraphQL, 3},
		{"failure, POST", "POST", errGraphQL, 1},
		{"throttled, POST", "POST", retry.Throttled(errGraphQL), 3},
		{"permanent", "GET", retry.Permanent(errGraphQL), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, p := &script{replies: []reply{{status: 200}}}, quick()
			var seen []error
			p.Classifier = retry.FirstOf(retry.ClassifierFunc(func(err error) retry.Verdict {
				seen = append(seen, err)
				return retry.Verdict{Class: retry.ClassUnknown}
			}), retry.DefaultClassifier{})
			resp, err := (&retryhttp.Transport{Base: base, Policy: p, Check: func(resp *http.Response, peek func(int) ([]byte, error)) error {
				data, err := peek(3)
				require.NoError(t, err)
				assert.Equal(t, "res", string(data))
				data, err = peek(1000)
				require.NoError(t, err)
				assert.Contains(t, string(data), "response ")
				data, err = peek(2)
				require.NoError(t, err)
				assert.Equal(t, "re", string(data))
				return tt.found
			}}).RoundTrip(request(t, tt.method, "content"))
			require.NoError(t, err)
			assert.Len(t, base.requests, tt.sent)
			data, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Contains(t, []string{"response 1", "response 3"}, string(data))
			require.NoError(t, resp.Body.Close())
			for _, response := range base.responses {
				assert.Equal(t, 1, response.closed)
			}
			for _, err := range seen {
				assert.ErrorIs(t, err, errGraphQL)
				e, ok := errors.AsType[*retryhttp.StatusError](err)
				require.True(t, ok)
				assert.Equal(t, 200, e.HTTPStatusCode())
			}
		})
	}
}

// TestCheckReturnsCheckStatus: the response of an attempt is closed before the next, also if the
// error of Check has a StatusError of its own.
func TestCheckReturnsCheckStatus(t *testing.T) {
	base := &script{replies: []reply{{status: 404}, {status: 200}}}
	check := func(resp *http.Response, _ func(int) ([]byte, error)) error {
		if err := retryhttp.CheckStatus(resp); err != nil {
			return retry.Transient(err)
		}
		return nil
	}
	resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), Check: check}).RoundTrip(request(t, "GET", ""))
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, 1, base.responses[0].closed)
}

// TestThrottlingStatuses: some APIs say with other statuses, or with headers, what 429 means.
func TestThrottlingStatuses(t *testing.T) {
	for _, tt := range []struct {
		status int
		header string
		want   retry.Class
	}{
		{403, "", retry.ClassPermanent},
		{403, "Retry-After", retry.ClassThrottled},
		{403, "X-Ratelimit-Remaining", retry.ClassThrottled},
		{403, "Ratelimit-Remaining", retry.ClassThrottled},
		{403, "X-Ratelimit-Remaining-Tokens", retry.ClassThrottled},
		{403, "X-Ratelimit-Limit", retry.ClassPermanent},
		{430, "", retry.ClassThrottled},
		{431, "", retry.ClassPermanent},
		{529, "", retry.ClassThrottled},
		{530, "", retry.ClassUnknown},
		{409, "", retry.ClassPermanent},
		{409, "Stripe-Version", retry.ClassTransient},
		{400, "Stripe-Version", retry.ClassPermanent},
		{413, "", retry.ClassPermanent},
		{413, "Retry-After", retry.ClassTransient},
	} {
		header := http.Header{}
		if tt.header != "" {
			header.Set(tt.header, "0")
		}
		err := retryhttp.CheckStatus(&http.Response{StatusCode: tt.status, Header: header})
		assert.Equal(t, tt.want, retry.Policy{}.Classify(err).Class, "%d %s", tt.status, tt.header)
	}
}

// TestCheckStatuses: an error from Check takes precedence over the status.
func TestCheckStatuses(t *testing.T) {
	for _, tt := range []struct {
		status int
		found  error
		sent   int
	}{
		{403, nil, 1},
		{403, retry.Throttled(errGraphQL), 3},
		{503, nil, 3},
		{503, retry.Permanent(errGraphQL), 1},
		{403, errGraphQL, 1}, // unmarked, so the status decides
	} {
		base := &script{replies: []reply{{status: tt.status}}}
		check := func(*http.Response, func(int) ([]byte, error)) error { return tt.found }
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), Check: check}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		assert.Equal(t, tt.status, resp.StatusCode)
		assert.Len(t, base.requests, tt.sent, "%d %v", tt.status, tt.found)
	}
}

func TestCheckBodies(t *testing.T) {
	send := func(check func(*http.Response, func(int) ([]byte, error)) error, bodies ...io.Reader) (*http.Response, error) {
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			next := io.NopCloser(bodies[0])
			bodies = bodies[1:]
			return &http.Response{StatusCode: 200, Body: next}, nil
		})
		return (&retryhttp.Transport{Base: base, Policy: quick(), Check: check}).RoundTrip(request(t, "GET", ""))
	}
	peeks := func(_ *http.Response, peek func(int) ([]byte, error)) error {
		_, err := peek(100)
		return err
	}
	cut := func() io.Reader {
		return io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	t.Run("cut off, then complete", func(t *testing.T) {
		resp, err := send(peeks, cut(), strings.NewReader("content"))
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "content", string(data))
	})
	t.Run("cut off at last", func(t *testing.T) {
		resp, err := send(peeks, cut(), cut(), cut())
		require.NoError(t, err)
		data, err := io.ReadAll(iotest.OneByteReader(resp.Body))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, "abc", string(data))
	})
	t.Run("longer than what Check reads", func(t *testing.T) {
		long := strings.Repeat("0123456789", 1000)
		resp, err := send(peeks, strings.NewReader(long))
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.True(t, long == string(data))
	})
	t.Run("Check does not read", func(t *testing.T) {
		body := bytes.NewBufferString("content")
		resp, err := send(func(*http.Response, func(int) ([]byte, error)) error { return nil }, body)
		require.NoError(t, err)
		assert.Equal(t, io.NopCloser(body), resp.Body, "the body is not wrapped")
		assert.Equal(t, 7, body.Len())
	})
}

type retrieveError struct {
	Response *http.Response
	Code     string
}

func (e *retrieveError) Error() string { return "oauth2: " + e.Code }

func TestStatusWithinError(t *testing.T) {
	within := func(status int) error {
		return &retrieveError{Response: &http.Response{StatusCode: status}, Code: "invalid_grant"}
	}
	for _, tt := range []struct {
		name  string
		err   error
		sent  int
		class retry.Class
	}{
		{"invalid_grant", within(400), 1, retry.ClassPermanent},
		{"in another error", errors.Join(within(400)), 1, retry.ClassPermanent},
		{"429", within(429), 3, retry.ClassThrottled},
		{"503", within(503), 3, retry.ClassTransient},
		{"success, but an error within", within(200), 1, retry.ClassPermanent},
		{"no response", &retrieveError{Code: "timeout"}, 3, retry.ClassTimeout},
		{"nil", (*nilError)(nil), 3, retry.ClassUnknown},
		{"a reason phrase", errors.New("Conflict"), 3, retry.ClassUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, p := &script{replies: []reply{{err: tt.err}}}, quick()
			var ended retry.Attempt
			p.Hint = retry.HintIgnore{}
			p.OnAttempt = func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
				return nil, func(a retry.Attempt) { ended = a }
			}
			_, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", ""))
			assert.ErrorIs(t, err, tt.err)
			assert.Len(t, base.requests, tt.sent)
			assert.Equal(t, tt.class, ended.Class)
		})
	}
}

type nilError struct{ Response *http.Response }

func (*nilError) Error() string { return "nil" }

func TestCheckStatus(t *testing.T) {
	respond := func(status int, headers ...string) *http.Response {
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}
		for i := 0; i < len(headers); i += 2 {
			resp.Header.Set(headers[i], headers[i+1])
		}
		return resp
	}
	for _, tt := range []struct {
		resp *http.Response
		text string // "": nil
		want retry.Verdict
	}{
		{respond(200), "", retry.Verdict{}},
		{respond(399), "", retry.Verdict{}},
		{respond(400), "400 Bad Request", retry.Verdict{Class: retry.ClassPermanent}},
		{respond(408), "408 Request Timeout", retry.Verdict{Class: retry.ClassTimeout}},
		{respond(421), "421 Misdirected Request", retry.Verdict{Class: retry.ClassTransient}},
		{respond(429, "Retry-After", "2"), "429 Too Many Requests", retry.Verdict{Class: retry.ClassThrottled, Hint: 2 * time.Second}},
		{respond(403, "X-Should-Retry", "true", "Retry-After", "2"), "403 Forbidden", retry.Verdict{Class: retry.ClassThrottled, Hint: 2 * time.Second}},
		{respond(503, "Retry-After-Ms", "2"), "503 Service Unavailable", retry.Verdict{Class: retry.ClassTransient, Hint: 2 * time.Millisecond}},
		{respond(503, "X-Should-Retry", "false"), "503 Service Unavailable", retry.Verdict{Class: retry.ClassPermanent}},
		{respond(409, "X-Should-Retry", "true", "Retry-After", "2"), "409 Conflict", retry.Verdict{Class: retry.ClassTransient, Hint: 2 * time.Second}},
		{respond(599), "599", retry.Verdict{}},
	} {
		err := retryhttp.CheckStatus(tt.resp)
		assert.Equal(t, tt.want, retry.Policy{}.Classify(err))
		if tt.text == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, tt.text)
		e, ok := errors.AsType[*retryhttp.StatusError](err)
		require.True(t, ok)
		assert.Same(t, tt.resp, e.Response)
	}
}

// FuzzCheckStatus: whatever the headers, the error can be classified. A valid
// X-Should-Retry decides whether the error is permanent.
func FuzzCheckStatus(f *testing.F) {
	f.Add(503, "true", "3")
	f.Add(404, " FALSE ", "soon")
	f.Add(0, "maybe", "-1")
	f.Fuzz(func(t *testing.T, status int, word, after string) {
		resp := &http.Response{StatusCode: status, Header: http.Header{"X-Should-Retry": {word}, "Retry-After": {after}}}
		err := retryhttp.CheckStatus(resp)
		require.Equal(t, status >= 400, err != nil)
		if err == nil {
			return
		}
		assert.NotEmpty(t, err.Error())
		a := retry.Policy{}.Classify(err)
		assert.GreaterOrEqual(t, a.Hint, time.Duration(0))
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "true":
			assert.NotEqual(t, retry.ClassPermanent, a.Class)
		case "false":
			assert.Equal(t, retry.ClassPermanent, a.Class)
		}
	})
}

// TestCheckConnect: with CheckConnect, the status of a proxy's refusal and its
// Retry-After are known. Nothing was sent, so a POST is retried, too.
func TestCheckConnect(t *testing.T) {
	for status, sent := range map[int]int{http.StatusForbidden: 1, http.StatusServiceUnavailable: 3} {
		connects := 0
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			connects++
			if status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "7")
			}
			w.WriteHeader(status)
		}))
		base := &http.Transport{Proxy: http.ProxyURL(parse(t, proxy.URL)), OnProxyConnectResponse: retryhttp.CheckConnect}
		req, p, hint := request(t, "POST", "content"), quick(), time.Duration(0)
		req.URL = parse(t, "https://host/")
		p.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) { hint = failed.Hint }
		_, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(req)
		refusal, ok := errors.AsType[*retryhttp.StatusError](err)
		require.True(t, ok, err)
		assert.Equal(t, status, refusal.HTTPStatusCode())
		assert.Equal(t, sent, connects)
		assert.Equal(t, time.Duration(sent-1)/2*7*time.Second, hint)
		proxy.Close()
	}
}

// TestCheckStatusSaysWhy: the error for the response of a Transport that gave up has the
// reason, as that of retry.Do has.
func TestCheckStatusSaysWhy(t *testing.T) {
	unavailable := func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody}, nil
	}
	once := func(method string) *http.Request {
		req := request(t, method, "content")
		req.GetBody = nil
		return req
	}
	budget := &awspreset.TokenBudget{Capacity: 28}
	for want, tt := range map[string]struct {
		policy retry.Policy
		req    *http.Request
		reason error
		label  string
		never  bool // MayRepeat returns false
	}{
		"gave up after 3 attempts (all attempts used): 503 Service Unavailable": {
			retry.Policy{}, request(t, "GET", ""), retry.ErrMaxAttempts, "attempts", false,
		},
		"gave up after 3 attempts (client-side retry budget used up): 503 Service Unavailable": {
			retry.Policy{MaxAttempts: 36, Budget: budget}, request(t, "GET", ""), retry.ErrBudget, "budget", false,
		},
		"gave up after 1 attempt (not safe to repeat): 503 Service Unavailable (no Idempotency-Key: see Transport.IdempotencyKey and MayRepeat)": {
			retry.Policy{}, request(t, "POST", "content"), retry.ErrUnrepeatable, "unrepeatable", false,
		},
		"gave up after 1 attempt (not safe to repeat): 503 Service Unavailable (the request has no GetBody to resend its body: see http.NewRequest)": {
			retry.Policy{}, once("PUT"), retry.ErrUnrepeatable, "unrepeatable", false,
		},
		"gave up after 1 attempt (not safe to repeat): 503 Service Unavailable (Transport.MayRepeat returned false)": {
			retry.Policy{}, request(t, "GET", ""), retry.ErrUnrepeatable, "unrepeatable", true,
		},
	} {
		tt.policy.Backoff = retry.NoDelay{}
		transport := &retryhttp.Transport{Base: roundTripper(unavailable), Policy: tt.policy}
		if tt.never {
			transport.MayRepeat = mayRepeat(false)
		}
		resp, err := transport.RoundTrip(tt.req)
		require.NoError(t, err)
		err = retryhttp.CheckStatus(resp)
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, tt.reason)
		assert.True(t, retry.Policy{}.Classify(err).GaveUp)
		loop, ok := errors.AsType[*retry.Error](err)
		require.True(t, ok)
		assert.Equal(t, tt.label, loop.ReasonLabel())
	}
}

// TestCheckStatusOfOneAttempt: a Do around a Transport that makes one attempt retries what the
// Transport would have retried, and nothing else.
func TestCheckStatusOfOneAttempt(t *testing.T) {
	for _, tt := range []struct {
		method string
		status int
		sent   int
	}{
		{"GET", 503, 3},
		{"GET", 404, 1},
		{"POST", 503, 1}, // may have been executed
		{"POST", 429, 3},
	} {
		base := &script{replies: []reply{{status: tt.status}}}
		transport := &retryhttp.Transport{Base: base, Policy: retry.Policy{MaxAttempts: retry.NoRetry}}
		err := retry.Do(t.Context(), quick(), func(context.Context) error {
			resp, err := transport.RoundTrip(request(t, tt.method, ""))
			require.NoError(t, err)
			return retryhttp.CheckStatus(resp)
		})
		assert.Error(t, err)
		assert.Len(t, base.requests, tt.sent, "%s %d", tt.method, tt.status)
	}
}

// TestCheckStatusOfCheck: CheckStatus returns what Check has found in the response, although
// the status is 200.
func TestCheckStatusOfCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		found  error
		reason error
	}{
		"permanent": {retry.Permanent(errGraphQL), nil},
		"transient": {retry.Transient(errGraphQL), retry.ErrMaxAttempts},
		"nothing":   {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			base := &script{replies: []reply{{status: 200}}}
			check := func(*http.Response, func(int) ([]byte, error)) error { return tt.found }
			calls := 0
			err := retry.Do(t.Context(), quick(), func(context.Context) error {
				calls++
				resp, err := (&retryhttp.Transport{Base: base, Policy: quick(), Check: check}).RoundTrip(request(t, "GET", ""))
				require.NoError(t, err)
				return retryhttp.CheckStatus(resp)
			})
			assert.Equal(t, 1, calls)
			assert.Equal(t, tt.found != nil, errors.Is(err, errGraphQL))
			assert.Equal(t, tt.reason != nil, errors.Is(err, retry.ErrMaxAttempts))
		})
	}
}
