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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// twice is a wrapper that sends each request twice, as for digest authentication, and returns
// the second result.
func twice(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := base.RoundTrip(req.Clone(req.Context()))
		if err == nil {
			_ = resp.Body.Close()
		}
		return base.RoundTrip(req.Clone(req.Context()))
	})
}

// late is a wrapper that returns an error without waiting for the response.
func late(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		began := make(chan struct{})
		ctx := context.WithoutCancel(req.Context())
		go func() {
			close(began)
			resp, err := base.RoundTrip(req.Clone(ctx))
			if err == nil {
				_ = resp.Body.Close()
			}
		}()
		<-began
		return nil, errors.New("no patience")
	})
}

// elsewhere is a wrapper whose requests do not belong to the attempt.
func elsewhere(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := base.RoundTrip(req.Clone(context.Background()))
		if err == nil {
			_ = resp.Body.Close()
			err = errors.New("an answer that the wrapper refuses")
		}
		return nil, err
	})
}

// rewindable is a wrapper that gives a request a body which can be rewound.
func rewindable(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Body == nil {
			return base.RoundTrip(req)
		}
		data, err := io.ReadAll(req.Body)
		err = errors.Join(err, req.Body.Close())
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		req.Body, _ = req.GetBody()
		return base.RoundTrip(req)
	})
}

// TestWrapEndings: a POST through a wrapper is sent again only if none of the requests that the
// wrapper made of it may have been executed.
func TestWrapEndings(t *testing.T) {
	for _, tt := range []struct {
		name    string
		wrap    func(http.RoundTripper) http.RoundTripper
		replies []int
		fails   bool
		headers int
	}{
		{"refused, then answered", through, []int{goAwayBelow, respondOK}, false, 2},
		{"both refused", twice, []int{goAwayBelow, goAwayBelow, respondOK}, false, 4},
		{"answered, then refused", twice, []int{respondOK, goAwayBelow, respondOK}, true, 2},
		{"reset, then refused", twice, []int{resetRefused, goAwayBelow, respondOK}, true, 2},
		{"reset, with a GetBody of the wrapper", rewindable, []int{resetRefused, respondOK}, true, 1},
		{"answered, but the wrapper failed", elsewhere, []int{respondOK}, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, sent := range []string{"", "content"} {
				s := newFrameServer(t, true, tt.replies...)
				transport := &retryhttp.Transport{Base: s.base, Wrap: tt.wrap, Policy: quick()}
				t.Cleanup(transport.CloseIdleConnections)
				req := request(t, "POST", sent)
				req.URL = parse(t, s.url)
				resp, err := transport.RoundTrip(req)
				if err == nil {
					require.NoError(t, resp.Body.Close())
				}
				if tt.fails {
					assert.ErrorIs(t, err, retry.ErrUnrepeatable, sent)
				}
				headers, _ := s.seen()
				assert.Equal(t, tt.headers, headers, sent)
			}
		})
	}
}

// TestWrapLeaves: a request that the wrapper has not waited for may be executed.
func TestWrapLeaves(t *testing.T) {
	s := newServer(t, http1, ok)
	transport := s.transport()
	transport.Wrap = late
	req := request(t, "POST", "")
	req.URL = parse(t, s.URL)
	_, err := transport.RoundTrip(req)
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
}

// TestWrapSees: the wrapper is made once, has headers and an attempt number of its own for each
// attempt, and gets a response to the request that it sent.
func TestWrapSees(t *testing.T) {
	var tokens []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens = append(tokens, r.Header.Get("Authorization"))
		if len(tokens) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	made := 0
	var numbers []int
	transport := &retryhttp.Transport{Base: server.Client().Transport, Policy: quick(), Wrap: func(base http.RoundTripper) http.RoundTripper {
		made++
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			numbers = append(numbers, retryhttp.AttemptNumber(req.Context()))
			req.Header.Add("Authorization", "token")
			resp, err := base.RoundTrip(req)
			require.NoError(t, err)
			assert.Same(t, req, resp.Request)
			return resp, err
		})
	}}
	for _, req := range []*http.Request{request(t, "PUT", "content"), request(t, "GET", "").WithContext(retryhttp.WithoutRetry(t.Context()))} {
		req.URL = parse(t, server.URL)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 200, resp.StatusCode)
	}
	assert.Equal(t, []string{"token", "token", "token", "token"}, tokens)
	assert.Equal(t, []int{1, 2, 3, 0}, numbers)
	assert.Equal(t, 1, made)
}

func TestWrapInvalid(t *testing.T) {
	transport := &retryhttp.Transport{Wrap: func(http.RoundTripper) http.RoundTripper { return nil }}
	req := request(t, "POST", "content")
	body := &body{Reader: strings.NewReader("content")}
	req.Body = body
	_, err := transport.RoundTrip(req)
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.EqualError(t, err, "invalid Transport.Wrap: it returned nil")
	assert.NotZero(t, body.closed)
}

// TestWrapperFailsFirst: a wrapper that returns an error before it has passed the request on, such as an
// oauth2.Transport without a token, has sent nothing. That is not known of a wrapper which has lost the
// context. What is passed on after the error is not sent.
func TestWrapperFailsFirst(t *testing.T) {
	failure := errors.New("no token")
	for name, tt := range map[string]struct {
		before func(base http.RoundTripper, req *http.Request)
		sent   int
		want   error // nil: the request is sent in the end
	}{
		"nothing passed on": {func(http.RoundTripper, *http.Request) {}, 1, nil},
		"passed on": {func(base http.RoundTripper, req *http.Request) {
			resp, err := base.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
		}, 1, retry.ErrUnrepeatable},
		"passed on without the context": {func(base http.RoundTripper, req *http.Request) {
			resp, err := base.RoundTrip(req.WithContext(context.Background()))
			if err == nil {
				_ = resp.Body.Close()
			}
		}, 1, retry.ErrUnrepeatable},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, http1, ok)
			transport, calls := s.transport(), 0
			transport.Sign = nil
			var late func() error
			transport.Wrap = func(base http.RoundTripper) http.RoundTripper {
				return roundTripper(func(req *http.Request) (*http.Response, error) {
					if calls++; calls == 1 {
						tt.before(base, req)
						late = func() error {
							resp, err := base.RoundTrip(req)
							if err == nil {
								_ = resp.Body.Close()
							}
							return err
						}
						return nil, failure
					}
					return base.RoundTrip(req)
				})
			}
			resp, err := transport.RoundTrip(post.request(t, s.URL, text(10)).Request)
			if assert.ErrorIs(t, err, tt.want) && tt.want == nil {
				require.NoError(t, resp.Body.Close())
				assert.ErrorContains(t, late(), "before its request was sent")
			}
			arrived, _ := s.seen()
			assert.Len(t, arrived, tt.sent)
		})
	}
}
