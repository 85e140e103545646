package retryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// signedBody adds a signature of the body, with a number of its own.
func signedBody(n *atomic.Int64) func(*http.Request) (retryhttp.Refused, error) {
	return func(req *http.Request) (retryhttp.Refused, error) {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		defer body.Close()
		content, err := io.ReadAll(body)
		req.Header.Set("Signature", fmt.Sprint(n.Add(1), " of ", string(content)))
		return nil, err
	}
}

// TestSignReadsTheBody: a signature is of the whole body, and each attempt has one of its own.
func TestSignReadsTheBody(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		change     func(*http.Request, *retryhttp.Transport)
		want       string // in the error
	}{
		{"GetBody", "the body", func(*http.Request, *retryhttp.Transport) {}, ""},
		{"no body", "", func(*http.Request, *retryhttp.Transport) {}, ""},
		{"MaxBuffer", "the body", func(r *http.Request, tr *retryhttp.Transport) { r.GetBody, tr.MaxBuffer = nil, 8 }, ""},
		{"MaxBuffer, without a length", "the body", func(r *http.Request, tr *retryhttp.Transport) {
			r.GetBody, r.ContentLength, tr.MaxBuffer = nil, -1, 8
		}, ""},
		{"beyond MaxBuffer", "the body", func(r *http.Request, tr *retryhttp.Transport) { r.GetBody, tr.MaxBuffer = nil, 7 }, "set the request's GetBody"},
		{"beyond MaxBuffer, without a length", "the body", func(r *http.Request, tr *retryhttp.Transport) {
			r.GetBody, r.ContentLength, tr.MaxBuffer = nil, -1, 7
		}, "longer than MaxBuffer"},
		{"once", "the body", func(r *http.Request, _ *retryhttp.Transport) { r.GetBody = nil }, "set the request's GetBody"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var signatures atomic.Int64
			base := &script{replies: []reply{{status: 503}, {status: 503}, {status: 200}}}
			transport := &retryhttp.Transport{Base: base, Policy: quick(), Sign: signedBody(&signatures)}
			req := request(t, http.MethodPut, tt.sent)
			closing := &body{Reader: strings.NewReader(tt.sent)}
			if tt.sent != "" {
				req.Body = closing
			}
			tt.change(req, transport)
			resp, err := transport.RoundTrip(req)
			if tt.want != "" {
				assert.ErrorContains(t, err, tt.want)
				assert.Equal(t, retry.ClassPermanent, retry.Policy{}.Classify(err).Class)
				assert.Empty(t, base.requests)
				assert.NotZero(t, closing.closed)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, 200, resp.StatusCode)
			require.Len(t, base.requests, 3)
			for i, sent := range base.requests {
				assert.Equal(t, fmt.Sprint(i+1, " of ", tt.sent), sent.Header.Get("Signature"))
				assert.Nil(t, sent.GetBody, "net/http would use it")
			}
			if tt.sent != "" {
				assert.Equal(t, []string{tt.sent, tt.sent, tt.sent}, base.bodies)
				assert.NotZero(t, closing.closed)
			}
			assert.Empty(t, req.Header)
		})
	}
}

// TestSignFails: nothing was sent, so the request is retried whatever its method, and a body that can
// be sent only once is still there.
func TestSignFails(t *testing.T) {
	failure := errors.New("no token")
	for _, tt := range []struct {
		name string
		err  error
		sent int
	}{
		{"twice", failure, 1},
		{"twice, after a timeout of another client", fmt.Errorf("%w: %w", failure, context.DeadlineExceeded), 1},
		{"for good", retry.Permanent(failure), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := &script{replies: []reply{{status: 200}}}
			calls := 0
			transport := &retryhttp.Transport{Base: base, Policy: quick(), Sign: func(*http.Request) (retryhttp.Refused, error) {
				calls++
				if calls <= 2 {
					return nil, tt.err
				}
				return nil, nil
			}}
			req, once := request(t, http.MethodPost, ""), &body{Reader: strings.NewReader("once")}
			req.Body = once
			resp, err := transport.RoundTrip(req)
			require.Len(t, base.requests, tt.sent)
			if tt.sent == 0 {
				assert.ErrorIs(t, err, failure)
				assert.NotZero(t, once.closed)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, 200, resp.StatusCode)
			assert.Equal(t, []string{"once"}, base.bodies)
		})
	}
}

// TestRefusedIsSignedAgain: a request that was refused is sent again with another signature, whatever
// its method, within the attempt and without a token. It is sent nine times at most.
func TestRefusedIsSignedAgain(t *testing.T) {
	const sent = "content"
	for _, tt := range []struct {
		name      string
		refusals  int
		change    func(*http.Request)
		requests  int
		lastReply int
	}{
		{"once", 1, func(*http.Request) {}, 2, 200},
		{"eight times", 8, func(*http.Request) {}, 9, 200},
		{"for ever", 1000, func(*http.Request) {}, 9, 401},
		{"without a body", 1, func(r *http.Request) { r.Body, r.GetBody, r.ContentLength = nil, nil, 0 }, 2, 200},
		{"with a body that can be sent only once", 1, func(r *http.Request) { r.GetBody = nil }, 1, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, protocol string) {
				var arrived atomic.Int64
				s := newServer(t, protocol, func(x *exchange) {
					if arrived.Add(1) <= int64(tt.refusals) {
						respond(http.StatusUnauthorized, "who are you?")(x)
						return
					}
					ok(x)
				})
				transport := s.transport()
				transport.Policy.MaxAttempts = retry.NoRetry
				transport.Policy.Budget = &retry.SharedBudget{Reserve: 1}
				var resends int
				transport.Policy.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
					return nil, func(retry.Attempt) {
						info, _ := retryhttp.InfoFrom(ctx)
						resends = info.Resends
					}
				}
				var mu sync.Mutex
				signatures := 0
				transport.Sign = func(req *http.Request) (retryhttp.Refused, error) {
					mu.Lock()
					defer mu.Unlock()
					signatures++
					assert.Empty(t, req.Header.Get("Signature"), "of an earlier request")
					req.Header.Set("Signature", fmt.Sprint(signatures))
					return retryhttp.RefusedBy(401), nil
				}
				req := request(t, http.MethodPost, sent)
				req.URL = parse(t, s.URL)
				tt.change(req)
				resp, err := transport.RoundTrip(req)
				require.NoError(t, err)
				_, err = io.Copy(io.Discard, resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				assert.Equal(t, tt.lastReply, resp.StatusCode)
				assert.Equal(t, fmt.Sprint(tt.requests), resp.Request.Header.Get("Signature"))
				assert.EqualValues(t, tt.requests, arrived.Load())
				assert.Equal(t, tt.requests, signatures)
				assert.Equal(t, tt.requests-1, resends)
				assert.False(t, retryhttp.Ambiguous(resp))
				_, executed := s.seen()
				assert.Len(t, executed, map[int]int{200: 1}[tt.lastReply])
				assert.EqualValues(t, 1, s.opened.Load(), "the refusals are drained")
			})
		})
	}
}

// TestRefusedReads: a 403 may mean that a signature has expired only in its text. Other responses keep
// their bodies.
func TestRefusedReads(t *testing.T) {
	texts := []string{"<Code>ExpiredToken</Code>", "<Code>AccessDenied</Code>"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, texts[0])
		texts = texts[1:]
	}))
	defer s.Close()
	client := &http.Client{Transport: &retryhttp.Transport{Sign: func(*http.Request) (retryhttp.Refused, error) {
		return func(resp *http.Response, peek func(int) ([]byte, error)) bool {
			start, err := peek(1000)
			return resp.StatusCode == http.StatusForbidden && err == nil && strings.Contains(string(start), "Expired")
		}, nil
	}}}
	resp, err := client.Post(s.URL, "text/plain", strings.NewReader("x"))
	require.NoError(t, err)
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "<Code>AccessDenied</Code>", string(content))
}

// TestRefusedPanics: the response is closed.
func TestRefusedPanics(t *testing.T) {
	base := &script{replies: []reply{{status: 401}}}
	transport := &retryhttp.Transport{Base: base, Sign: func(*http.Request) (retryhttp.Refused, error) {
		return func(*http.Response, func(int) ([]byte, error)) bool { panic("boom") }, nil
	}}
	assert.PanicsWithValue(t, "boom", func() { _, _ = transport.RoundTrip(request(t, "POST", "x")) })
	assert.Equal(t, 1, base.responses[0].closed)
}

// TestSignAfterRedirect: nothing is added for another host, nor for a host to which another one has
// redirected.
func TestSignAfterRedirect(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hosts []string
		want  []string // what Sign added
	}{
		{"the same host", []string{"http://a.test/", "http://a.test/x"}, []string{"secret", "secret"}},
		{"in capitals, with the standard port", []string{"http://a.test/", "http://A.test:80/"}, []string{"secret", "secret"}},
		{"encrypted from now on", []string{"http://a.test/", "https://a.test/"}, []string{"secret", "secret"}},
		{"no longer encrypted", []string{"https://a.test/", "http://a.test/"}, []string{"secret", ""}},
		{"no longer encrypted, on one port", []string{"https://a.test:8443/", "http://a.test:8443/"}, []string{"secret", ""}},
		{"another port", []string{"http://a.test/", "http://a.test:8080/"}, []string{"secret", ""}},
		{"a subdomain", []string{"http://a.test/", "http://b.a.test/"}, []string{"secret", ""}},
		{"another host and back", []string{"http://a.test/", "http://b.test/", "http://a.test/"}, []string{"secret", "", ""}},
		{"another host, which redirects to itself", []string{"http://a.test/", "http://b.test/", "http://b.test/x"}, []string{"secret", "", ""}},
	} {
		for _, ctx := range []context.Context{t.Context(), retryhttp.WithoutRetry(t.Context())} {
			t.Run(tt.name, func(t *testing.T) {
				var got []string
				client := &http.Client{Transport: &retryhttp.Transport{
					Sign: func(req *http.Request) (retryhttp.Refused, error) {
						req.Header.Set("Api-Key", "secret")
						return nil, nil
					},
					Base: roundTripper(func(req *http.Request) (*http.Response, error) {
						assert.Equal(t, tt.hosts[len(got)], req.URL.String())
						got = append(got, req.Header.Get("Api-Key"))
						resp := &http.Response{StatusCode: 200, Body: http.NoBody, Header: http.Header{}, Request: req}
						if len(got) < len(tt.hosts) {
							resp.StatusCode = http.StatusTemporaryRedirect
							resp.Header.Set("Location", tt.hosts[len(got)])
						}
						return resp, nil
					}),
				}}
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, tt.hosts[0], strings.NewReader("x"))
				require.NoError(t, err)
				resp, err := client.Do(req)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				assert.Equal(t, tt.want, got)
			})
		}
	}
}

// TestSignElsewhere: Sign may replace the whole URL, as a signed URL does, also for a request that
// leaves over a connection of the host's pool. A redirect of that server is followed and signed.
func TestSignElsewhere(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		var mu sync.Mutex
		var got []string
		s := newServer(t, protocol, func(x *exchange) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, x.request.Host+x.request.RequestURI)
			if len(got)%2 == 1 {
				http.Redirect(x, x.request, x.server.URL+"/moved", http.StatusTemporaryRedirect)
				return
			}
			ok(x)
		})
		transport := s.transport()
		host := s.Listener.Addr().String()
		transport.Sign = func(req *http.Request) (retryhttp.Refused, error) {
			signed := *parse(t, s.URL)
			signed.Path, signed.RawQuery = req.URL.Path, "signature=1"
			req.URL = &signed
			return nil, nil
		}
		for _, sent := range []string{"", "content"} {
			got = nil
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://storage.invalid/x", strings.NewReader(sent))
			require.NoError(t, err)
			if sent == "" {
				req.Body, req.GetBody = nil, nil
			}
			resp, err := (&http.Client{Transport: transport}).Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, 200, resp.StatusCode)
			assert.Equal(t, []string{host + "/x?signature=1", host + "/moved?signature=1"}, got)
			assert.Equal(t, "https://storage.invalid/x", req.URL.String())
		}
	})
}

// TestSignRemovesURL: that is an error, and nothing is sent.
func TestSignRemovesURL(t *testing.T) {
	base := &script{replies: []reply{{status: 200}}}
	transport := &retryhttp.Transport{Base: base, Sign: func(req *http.Request) (retryhttp.Refused, error) {
		req.URL = nil
		return nil, nil
	}}
	_, err := transport.RoundTrip(request(t, "POST", "x"))
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Empty(t, base.requests)
}

// TestSignWithoutRetry: a request is signed and sent once, and what signed it learns of a refusal. If
// it cannot be signed, its body is closed.
func TestSignWithoutRetry(t *testing.T) {
	base := &script{replies: []reply{{status: 401}}}
	refusals := 0
	var failure error
	transport := &retryhttp.Transport{Base: base, Sign: func(req *http.Request) (retryhttp.Refused, error) {
		copied, err := req.GetBody()
		require.NoError(t, err)
		content, err := io.ReadAll(copied)
		require.NoError(t, err)
		req.Header.Set("Signature", string(content))
		return func(*http.Response, func(int) ([]byte, error)) bool {
			refusals++
			return true
		}, failure
	}}
	req := request(t, "POST", "content")
	req = req.WithContext(retryhttp.WithoutRetry(req.Context()))
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, 401, resp.StatusCode)
	assert.Same(t, req, resp.Request)
	assert.Equal(t, 1, refusals)
	require.Len(t, base.requests, 1)
	assert.Equal(t, "content", base.requests[0].Header.Get("Signature"))
	assert.Equal(t, []string{"content"}, base.bodies)
	assert.Empty(t, req.Header)

	failure = errors.New("no token")
	closing := &body{Reader: strings.NewReader("content")}
	req.Body = closing
	_, err = transport.RoundTrip(req)
	assert.ErrorIs(t, err, failure)
	assert.Len(t, base.requests, 1)
	assert.Equal(t, 1, closing.closed)
}

// TestSignHedged: each copy is signed, and signed again after a refusal.
func TestSignHedged(t *testing.T) {
	inHedge(t, func(t *testing.T, h *hedged) {
		var mu sync.Mutex
		signatures := 0
		h.transport.Sign = func(req *http.Request) (retryhttp.Refused, error) {
			mu.Lock()
			defer mu.Unlock()
			signatures++
			req.Header.Set("Signature", fmt.Sprint(signatures))
			return retryhttp.RefusedBy(401), nil
		}
		seen := map[string]int{}
		h.handle = func(_ int, w http.ResponseWriter, r *http.Request) {
			signature := r.Header.Get("Signature")
			mu.Lock()
			seen[signature]++
			mu.Unlock()
			switch signature {
			case "1": // the request itself is slow
				time.Sleep(time.Second)
			case "2", "3":
				w.WriteHeader(http.StatusUnauthorized)
			}
		}
		req := request(t, "GET", "")
		req.URL = parse(t, "http://server/")
		resp, err := h.transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 200, resp.StatusCode)
		assert.Equal(t, "4", resp.Request.Header.Get("Signature"))
		assert.Equal(t, map[string]int{"1": 1, "2": 1, "3": 1, "4": 1}, seen)
	})
}
