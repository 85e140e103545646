package retryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

var bearer = retryhttp.InHeader("Authorization", "Bearer ")

// sessions is a server that refuses all tokens but the current one.
type sessions struct {
	*httptest.Server
	mu       sync.Mutex
	good     string
	logins   int
	executed map[string]int // by body
	cut      func() bool    // the response to an executed request is lost
}

func newSessions(t *testing.T, protocol string) *sessions {
	s := &sessions{executed: map[string]int{}, cut: func() bool { return false }}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if protocol == http2 {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.URL.Path == "/login":
		s.logins++
		s.good = fmt.Sprint("t", s.logins)
		fmt.Fprint(w, s.good)
	case r.Header.Get("Authorization") != "Bearer "+s.good:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		s.executed[string(body)]++
		if s.cut() {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "done")
	}
}

func (s *sessions) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.good = "revoked"
}

// client returns a client whose Lease logs in through the same client.
func (s *sessions) client() *http.Client {
	client := &http.Client{}
	lease := &retryhttp.Lease[string]{Set: bearer}
	lease.Renew = func(ctx context.Context, _ string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/login", nil)
		if err != nil {
			return "", err
		}
		resp, body, err := retryhttp.Read(client, req)
		if err != nil {
			return "", err
		}
		return string(body), retryhttp.CheckStatus(resp)
	}
	client.Transport = &retryhttp.Transport{Base: s.Server.Client().Transport, Policy: retry.Policy{Backoff: retry.NoDelay{}}, Sign: lease.Sign}
	return client
}

// post1 sends a POST and returns the status.
func post1(client *http.Client, url, body string) (int, error) {
	resp, err := client.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// signedBy returns a client whose requests a function answers, by the header Authorization.
func signedBy(sign func(*http.Request) (retryhttp.Refused, error), answer func(token string) int) *http.Client {
	return &http.Client{Transport: &retryhttp.Transport{Sign: sign, Base: roundTripper(func(req *http.Request) (*http.Response, error) {
		status := answer(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "))
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	})}}
}

// TestLeaseIsRenewedOnce: fifty callers whose token is revoked share one renewal, through the same
// client, and each POST is executed once.
func TestLeaseIsRenewedOnce(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newSessions(t, protocol)
		client := s.client()
		for round := range 20 {
			var callers sync.WaitGroup
			for i := range 50 {
				callers.Go(func() {
					status, err := post1(client, s.URL, fmt.Sprint(round, " ", i))
					assert.NoError(t, err)
					assert.Equal(t, 200, status)
				})
			}
			callers.Wait()
			assert.Equal(t, round+1, s.logins)
			s.revoke()
		}
		assert.Len(t, s.executed, 1000)
		for body, n := range s.executed {
			assert.Equal(t, 1, n, body)
		}
		client.CloseIdleConnections()
	})
}

// TestLeaseUnderCuts: with responses that are lost and tokens that are revoked at any time, no POST is
// executed twice, and no other response is a 401.
func TestLeaseUnderCuts(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		s := newSessions(t, protocol)
		random := rand.New(rand.NewPCG(1, 2))
		s.cut = func() bool { return random.IntN(4) == 0 } // under s.mu
		client := s.client()
		for i := range 300 {
			if i%3 == 0 {
				s.revoke()
			}
			status, err := post1(client, s.URL, fmt.Sprint(i))
			if err != nil {
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				continue
			}
			assert.Equal(t, 200, status)
		}
		assert.Len(t, s.executed, 300)
		for body, n := range s.executed {
			assert.Equal(t, 1, n, body)
		}
		client.CloseIdleConnections()
	})
}

// TestLeaseRefusedForEver: a server that refuses every token, or every token for one of its routes,
// gets few requests and renewals. Calls to its other routes succeed.
func TestLeaseRefusedForEver(t *testing.T) {
	for _, tt := range []struct {
		name               string
		elsewhere          int // the status for every other call
		requests, renewals int
	}{
		{"by the whole server", 401, 640, 20},
		{"for one route", 200, 1000, 310},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, renewals, calls := 0, 0, 0
				lease := &retryhttp.Lease[int]{
					Renew: func(context.Context, int) (int, error) {
						renewals++
						return renewals, nil
					},
					Set: func(*http.Request, int) error { return nil },
				}
				client := signedBy(lease.Sign, func(string) int {
					requests++
					if calls%2 == 0 {
						return tt.elsewhere
					}
					return 401
				})
				for calls = range 600 {
					before := requests
					status, err := post1(client, "http://h/", "x")
					assert.NoError(t, err)
					if calls%2 == 0 {
						assert.Equal(t, tt.elsewhere, status)
					} else {
						assert.Equal(t, 401, status)
					}
					assert.LessOrEqual(t, requests-before, 3)
					time.Sleep(time.Second)
				}
				assert.LessOrEqual(t, requests, tt.requests)
				assert.LessOrEqual(t, renewals, tt.renewals)
			})
		})
	}
}

// TestLeaseOfEightProcesses: a refresh token may be used once. The processes that lose find the new
// one in the store, also if it is stored some time after the server has issued it.
func TestLeaseOfEightProcesses(t *testing.T) {
	for _, late := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			stored, valid := 1, 1 // refresh tokens; the access token is their number
			failures := 0
			process := func() *http.Client {
				lease := &retryhttp.Lease[int]{
					Set: func(req *http.Request, token int) error { return bearer(req, fmt.Sprint(token)) },
					Load: func(context.Context) (int, error) {
						mu.Lock()
						defer mu.Unlock()
						return stored, nil
					},
					Renew: func(_ context.Context, old int) (int, error) {
						time.Sleep(30 * time.Millisecond)
						mu.Lock()
						if old != valid {
							failures++
							mu.Unlock()
							return 0, retry.Permanent(errors.New("invalid_grant"))
						}
						valid++
						mu.Unlock()
						time.Sleep(late)
						mu.Lock()
						defer mu.Unlock()
						stored = valid
						return valid, nil
					},
				}
				return signedBy(lease.Sign, func(token string) int {
					mu.Lock()
					defer mu.Unlock()
					if token == fmt.Sprint(valid) && valid > 1 {
						return 200
					}
					return 401
				})
			}
			var callers sync.WaitGroup
			for range 8 {
				client := process()
				for range 10 {
					callers.Go(func() {
						status, err := post1(client, "http://h/", "x")
						assert.NoError(t, err)
						assert.Equal(t, 200, status)
					})
				}
			}
			callers.Wait()
			assert.Equal(t, 7, failures)
			assert.Equal(t, 2, valid)
		})
	}
}

// TestLeaseLoads: a value of the store that is not new is renewed, in the same call.
func TestLeaseLoads(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stored []string // one after the other
		want   string   // what was sent
	}{
		{"nothing yet", []string{""}, "n1"},
		{"the right one", []string{"good"}, "good"},
		{"an old one", []string{"old"}, "old n1"},
		{"an old one, and then the right one", []string{"old", "good"}, "old good"},
		{"two old ones", []string{"old", "older"}, "old older n1"},
		{"one that comes back", []string{"old", "older", "old"}, "old older old n1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent []string
				loads, renewals := 0, 0
				lease := &retryhttp.Lease[string]{
					Set: bearer,
					Load: func(context.Context) (string, error) {
						loads++
						return tt.stored[min(loads, len(tt.stored))-1], nil
					},
					Renew: func(context.Context, string) (string, error) {
						renewals++
						return fmt.Sprint("n", renewals), nil
					},
				}
				client := signedBy(lease.Sign, func(token string) int {
					sent = append(sent, token)
					if token == "good" || token == "n1" {
						return 200
					}
					return 401
				})
				status, err := post1(client, "http://h/", "x")
				assert.NoError(t, err)
				assert.Equal(t, 200, status)
				assert.Equal(t, tt.want, strings.Join(sent, " "))
			})
		})
	}
}

// TestLeaseWithoutToken: while there is no token, nothing is sent, few renewals are made, and the Policy
// of the call decides how long to wait. A body that can be sent only once is still there.
func TestLeaseWithoutToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, renewals, requests := time.Now(), 0, 0
		lease := &retryhttp.Lease[string]{Set: bearer, Renew: func(context.Context, string) (string, error) {
			renewals++
			if time.Since(begin) < 20*time.Second {
				return "", errors.New("the token server is down")
			}
			return "t", nil
		}}
		client := &http.Client{Transport: &retryhttp.Transport{
			Sign: lease.Sign, Policy: retry.Policy{MaxElapsed: time.Minute, Budget: retry.NoBudget{}},
			Base: roundTripper(func(req *http.Request) (*http.Response, error) {
				requests++
				body, err := io.ReadAll(req.Body)
				assert.NoError(t, err)
				assert.Equal(t, "once", string(body))
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
			}),
		}}
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				resp, err := client.Post("http://h/", "", io.MultiReader(strings.NewReader("once")))
				if assert.NoError(t, err) {
					assert.Equal(t, 200, resp.StatusCode)
				}
			})
		}
		callers.Wait()
		assert.Equal(t, 10, requests)
		assert.Less(t, renewals, 25)
	})
}

// TestLeaseUntil: a token is renewed before it is used after its end. The caller that waits for a
// renewal may leave, and the renewal goes on. A new token that has expired already is renewed once in a
// second.
func TestLeaseUntil(t *testing.T) {
	for _, tt := range []struct {
		lives    time.Duration
		renewals int
	}{{time.Minute, 3}, {-time.Hour, 130}} {
		synctest.Test(t, func(t *testing.T) {
			renewals := 0
			lease := &retryhttp.Lease[time.Time]{
				Renew: func(ctx context.Context, _ time.Time) (time.Time, error) {
					renewals++
					time.Sleep(time.Second)
					return time.Now().Add(tt.lives), ctx.Err()
				},
				Until: func(end time.Time) time.Time { return end },
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			_, err := lease.Get(ctx)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			for range 1300 {
				end, err := lease.Get(t.Context())
				assert.NoError(t, err)
				assert.Equal(t, tt.lives > 0, time.Now().Before(end))
				time.Sleep(100 * time.Millisecond)
			}
			assert.InDelta(t, tt.renewals, renewals, 1)
		})
	}
}

// TestLeaseInvalid: what cannot work is an error, and nothing is sent. After a refusal, that is so for
// the second request.
func TestLeaseInvalid(t *testing.T) {
	none := func(context.Context, string) (string, error) { return "", nil }
	same := func(context.Context, string) (string, error) { return "t", nil }
	failing := errors.New("cannot be set")
	var lease *retryhttp.Lease[string]
	for _, tt := range []struct {
		name  string
		lease *retryhttp.Lease[string]
		want  string
		is    error
		sent  int
	}{
		{"no Renew", &retryhttp.Lease[string]{Set: bearer}, "it has no Renew", retry.ErrInvalid, 0},
		{"no Set", &retryhttp.Lease[string]{Renew: same}, "it has no Set", retry.ErrInvalid, 0},
		{"zero value", &retryhttp.Lease[string]{Set: bearer, Renew: none}, "returned the zero value", retry.ErrInvalid, 0},
		{"refused value", &retryhttp.Lease[string]{Set: bearer, Renew: same}, "returned the value that was refused", retry.ErrInvalid, 1},
		{"Set fails", &retryhttp.Lease[string]{Renew: same, Set: func(*http.Request, string) error { return retry.Permanent(failing) }}, "cannot be set", failing, 0},
		{"Renew panics", &retryhttp.Lease[string]{Set: bearer, Renew: func(context.Context, string) (string, error) { panic("boom") }}, "panic: boom", nil, 0},
		{"Load panics", &retryhttp.Lease[string]{Set: bearer, Renew: same, Load: func(context.Context) (string, error) { panic("boom") }}, "lease_test.go", nil, 0},
		{"Renew ends its goroutine", &retryhttp.Lease[string]{Set: bearer, Renew: func(context.Context, string) (string, error) {
			runtime.Goexit()
			return "", nil
		}}, "operation did not return", retry.ErrNoReturn, 0},
		{"Renew waits for itself", &retryhttp.Lease[string]{Set: bearer, Renew: func(ctx context.Context, _ string) (string, error) { return lease.Get(ctx) }}, "waits for the value that it renews", retry.ErrInvalid, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lease = tt.lease
			sent := 0
			client := signedBy(lease.Sign, func(string) int {
				sent++
				return 401
			})
			_, err := post1(client, "http://h/", "x")
			require.ErrorContains(t, err, tt.want)
			if tt.is != nil {
				assert.ErrorIs(t, err, tt.is)
			}
			assert.Equal(t, retry.ClassPermanent, retry.Policy{}.Classify(err).Class)
			assert.Equal(t, tt.sent, sent)
		})
	}
}

// TestLeaseIsStuck: a Renew whose request waits for the Lease, because it has not the right context, ends
// with an error.
func TestLeaseIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := &retryhttp.Lease[string]{Set: bearer}
		client := signedBy(lease.Sign, func(string) int { return 200 })
		lease.Renew = func(context.Context, string) (string, error) {
			_, err := post1(client, "http://h/login", "x")
			return "t", err
		}
		start := time.Now()
		_, err := post1(client, "http://h/", "x")
		assert.ErrorIs(t, err, retry.ErrInvalid)
		assert.ErrorContains(t, err, "use that context for requests")
		assert.Equal(t, 31*time.Second, time.Since(start))
	})
}

// TestLeaseOutside: without a Transport, a value that is refused from time to time is renewed each time,
// and a server that refuses every value gets few.
func TestLeaseOutside(t *testing.T) {
	for _, tt := range []struct {
		name     string
		every    time.Duration
		refusals int
		renewals int
	}{
		{"each hour", time.Hour, 100, 101},
		{"at once", time.Second / 2, 1200, 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				renewals := 0
				lease := &retryhttp.Lease[int]{Renew: func(context.Context, int) (int, error) {
					renewals++
					return renewals, nil
				}}
				for range tt.refusals {
					value, err := lease.Get(t.Context())
					require.NoError(t, err)
					time.Sleep(tt.every)
					lease.Refuse(value)
				}
				_, err := lease.Get(t.Context())
				require.NoError(t, err)
				assert.LessOrEqual(t, renewals, tt.renewals)
				if tt.every > time.Minute {
					assert.Equal(t, tt.renewals, renewals)
				}
			})
		})
	}
}

// TestLimitOfALease: a limit outlasts the token with which it was told.
func TestLimitOfALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		renewals, sent := 0, 0
		lease := &retryhttp.Lease[string]{Set: bearer, Until: func(string) time.Time { return time.Now() }}
		lease.Renew = func(context.Context, string) (string, error) {
			renewals++
			return fmt.Sprint("t", renewals), nil
		}
		client := &retryhttp.Transport{Sign: lease.Sign, Base: answers(func(*http.Request) (int, http.Header) {
			sent++
			return 429, told(100, 0, time.Hour)
		})}
		for range 2 { // the second is a probe
			_, err := send(t, client, time.Second, nil)
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		_, err := send(t, client, time.Second, nil)
		var e *ratelimit.UsedUpError
		assert.ErrorAs(t, err, &e)
		assert.Equal(t, 2, sent)
	})
}
