package pages

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// This file has the code of docs/http.md that adds to a request what it needs.

func withToken(config *clientcredentials.Config) *http.Client {
	token := &retryhttp.Lease[*oauth2.Token]{
		Renew: func(ctx context.Context, _ *oauth2.Token) (*oauth2.Token, error) { return config.Token(ctx) },
		Until: func(t *oauth2.Token) time.Time { return t.Expiry },
		Set: func(req *http.Request, t *oauth2.Token) error {
			t.SetAuthHeader(req)
			return nil
		},
	}
	client := &http.Client{Transport: &retryhttp.Transport{Sign: token.Sign}}
	return client
}

// tokenServer issues tokens, of which it accepts the last one. It refuses every second request for one.
type tokenServer struct {
	*httptest.Server
	asked, issued atomic.Int64
	revoked       atomic.Bool
}

func newTokenServer(t *testing.T) *tokenServer {
	s := &tokenServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		good := fmt.Sprint("Bearer t", s.issued.Load())
		switch {
		case r.URL.Path == "/token" && s.asked.Add(1)%2 == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/token":
			s.revoked.Store(false)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"access_token": "t%d", "token_type": "bearer", "expires_in": 3600}`, s.issued.Add(1))
		case s.revoked.Load(), r.Header.Get("Authorization") != good:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.Copy(w, r.Body)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// post sends a POST and returns the status, or 0 if there is no response.
func post(t *testing.T, client *http.Client, url string) int {
	t.Helper()
	resp, err := client.Post(url, "text/plain", strings.NewReader("content"))
	if err != nil {
		return 0
	}
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// TestWithToken: a renewal that fails is repeated, and a token that is revoked is renewed. What the page
// says of an oauth2.Transport is so.
func TestWithToken(t *testing.T) {
	for _, tt := range []struct {
		name           string
		client         func(*clientcredentials.Config) *http.Client
		first, revoked int // statuses
	}{
		{"Lease", withToken, 200, 200},
		{"oauth2.Transport", func(config *clientcredentials.Config) *http.Client {
			return config.Client(context.Background())
		}, 0, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTokenServer(t)
			config := &clientcredentials.Config{ClientID: "id", ClientSecret: "secret", TokenURL: s.URL + "/token", AuthStyle: oauth2.AuthStyleInHeader}
			client := tt.client(config)
			assert.Equal(t, tt.first, post(t, client, s.URL))
			assert.Equal(t, 200, post(t, client, s.URL))
			s.revoked.Store(true)
			assert.Equal(t, tt.revoked, post(t, client, s.URL))
		})
	}
}

// TestTokenSource: any TokenSource fits in one line. One that keeps its token in spite of a refusal is an
// error that says so.
func TestTokenSource(t *testing.T) {
	s := newTokenServer(t)
	config := &clientcredentials.Config{ClientID: "id", ClientSecret: "secret", TokenURL: s.URL + "/token", AuthStyle: oauth2.AuthStyleInHeader}
	source := config.TokenSource(t.Context())
	token := &retryhttp.Lease[*oauth2.Token]{
		Renew: func(context.Context, *oauth2.Token) (*oauth2.Token, error) { return source.Token() },
		Set: func(req *http.Request, t *oauth2.Token) error {
			t.SetAuthHeader(req)
			return nil
		},
	}
	client := &http.Client{Transport: &retryhttp.Transport{Sign: token.Sign}}
	assert.Equal(t, 200, post(t, client, s.URL))
	s.revoked.Store(true)
	_, err := client.Get(s.URL)
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.ErrorContains(t, err, "Renew returned the value that was refused")
}

type mcp struct{ *httptest.Server }

func (server mcp) withSession() *http.Client {
	client := &http.Client{}
	session := &retryhttp.Lease[string]{
		Renew: func(ctx context.Context, _ string) (string, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(initialize))
			if err != nil {
				return "", err
			}
			resp, _, err := retryhttp.Read(client, req)
			if err != nil {
				return "", err
			}
			return resp.Header.Get("Mcp-Session-Id"), retryhttp.CheckStatus(resp)
		},
		Set:     retryhttp.InHeader("Mcp-Session-Id", ""),
		Refused: retryhttp.RefusedBy(http.StatusNotFound),
	}
	client.Transport = &retryhttp.Transport{Sign: session.Sign}
	return client
}

const initialize = `{"jsonrpc": "2.0", "id": 1, "method": "initialize"}`

// TestWithSession: when the session has gone, one new one is begun, and the POST is sent again.
func TestWithSession(t *testing.T) {
	var sessions, executed atomic.Int64
	server := mcp{httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		switch {
		case string(content) == initialize:
			w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", sessions.Add(1)))
		case r.Header.Get("Mcp-Session-Id") != fmt.Sprint("s", sessions.Load()):
			w.WriteHeader(http.StatusNotFound)
		default:
			executed.Add(1)
		}
	}))}
	defer server.Close()
	client := server.withSession()
	assert.Equal(t, 200, post(t, client, server.URL))
	sessions.Add(7) // the server was restarted
	assert.Equal(t, 200, post(t, client, server.URL))
	assert.EqualValues(t, 2, executed.Load())
	assert.EqualValues(t, 9, sessions.Load())
}

func withKeys() *http.Client {
	keys := &retryhttp.Pool[string]{Values: strings.Fields(os.Getenv("API_KEYS")), Set: retryhttp.InHeader("X-Api-Key", "")}
	client := &http.Client{Transport: &retryhttp.Transport{Sign: keys.Sign}}
	return client
}

// TestWithKeys: a key that is refused is not sent again, and its request leaves with the other one at once.
func TestWithKeys(t *testing.T) {
	t.Setenv("API_KEYS", "a b")
	var refused atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == "a" {
			refused.Add(1)
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	client := withKeys()
	for range 10 {
		assert.Equal(t, 200, post(t, client, server.URL))
	}
	assert.EqualValues(t, 1, refused.Load())
}

func withSignature(secret []byte) *http.Client {
	sign := func(req *http.Request) (retryhttp.Refused, error) {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		defer body.Close()
		mac := hmac.New(sha256.New, secret)
		_, err = io.Copy(mac, body)
		req.Header.Set("Signature", hex.EncodeToString(mac.Sum(nil)))
		return nil, err
	}
	client := &http.Client{Transport: &retryhttp.Transport{Sign: sign}}
	return client
}

// TestWithSignature: each attempt is signed. What signs under Wrap instead has no body to sign, as the page
// says.
func TestWithSignature(t *testing.T) {
	secret := []byte("secret")
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mac := hmac.New(sha256.New, secret)
		_, err := io.Copy(mac, r.Body)
		assert.NoError(t, err)
		if hex.EncodeToString(mac.Sum(nil)) != r.Header.Get("Signature") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if requests.Add(1) < 3 {
			w.WriteHeader(http.StatusTooEarly)
		}
	}))
	defer server.Close()
	client := withSignature(secret)
	assert.Equal(t, 200, post(t, client, server.URL))
	assert.EqualValues(t, 3, requests.Load())

	var getBody func() (io.ReadCloser, error)
	client.Transport.(*retryhttp.Transport).Sign = nil
	client.Transport.(*retryhttp.Transport).Wrap = func(http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			getBody = req.GetBody
			return nil, retry.Permanent(errors.New("seen"))
		})
	}
	assert.Zero(t, post(t, client, server.URL))
	assert.Nil(t, getBody)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
