// Package overload compares what a server under overload can have in front of it, with
// clients that do not know: nothing, a fixed limit, the adaptive limiter of failsafe-go,
// and a Gate. By default, a few scenarios run in virtual time:
//
//	go test -v ./overload
//	go test -v -timeout 4h ./overload -all -real -runs 3    (everything, over the loopback interface)
package overload

import (
	"context"
	"flag"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/internal/test/overload"
	"github.com/gobackoff/retry/retryhttp"
)

var (
	all    = flag.Bool("all", false, "run all scenarios")
	inReal = flag.Bool("real", false, "run in real time, over the loopback interface")
	runs   = flag.Int("runs", 1, "runs of each scenario, alternating")
)

// refuse sends the response of a Gate.
func refuse(w http.ResponseWriter) {
	after := 1 + 4*rand.Float64()
	w.Header().Set("Retry-After", strconv.Itoa(int(after+0.5)))
	w.Header().Set("Retry-After-Ms", strconv.Itoa(int(1000*after)))
	http.Error(w, "overloaded", http.StatusTooManyRequests)
}

func fixed(limit int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		places := make(chan struct{}, limit)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				next.ServeHTTP(w, r)
			default:
				refuse(w)
			}
		})
	}
}

// failsafe has the hints of a Gate added.
func failsafe(next http.Handler) http.Handler {
	limiter := adaptivelimiter.NewWithDefaults[any]()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		permit, ok := limiter.TryAcquirePermit()
		if !ok {
			refuse(w)
			return
		}
		defer permit.Record()
		next.ServeHTTP(w, r)
	})
}

func gate(next http.Handler) http.Handler { return new(admit.Gate).Handler(next) }

var servers = []struct {
	name  string
	admit func(http.Handler) http.Handler
}{
	{"nothing", nil},
	{"fixed limit of 80", fixed(80)},
	{"failsafe-go", failsafe},
	{"Gate", gate},
}

var clients = map[string]func(http.RoundTripper, overload.Load) *http.Client{
	"retryhttp": func(base http.RoundTripper, l overload.Load) *http.Client {
		return &http.Client{Transport: &retryhttp.Transport{
			Base: base, Policy: retry.Policy{MaxAttempts: 4, AttemptTimeout: l.Timeout, Budget: retry.NoBudget{}},
		}}
	},
	"go-retryablehttp": func(base http.RoundTripper, l overload.Load) *http.Client {
		c := retryablehttp.NewClient()
		c.RetryMax, c.Logger = 3, log.New(io.Discard, "", 0)
		c.HTTPClient = &http.Client{Transport: base, Timeout: l.Timeout}
		return c.StandardClient()
	},
}

func always(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// from returns the times of a server that is slow after 10 s, for a while.
func from(length, before, after time.Duration) func(time.Duration) time.Duration {
	return func(at time.Duration) time.Duration {
		if at > 10*time.Second && at < 10*time.Second+length {
			return after
		}
		return before
	}
}

type scenario struct {
	name  string
	load  overload.Load
	short bool
	least float64 // percent with a Gate
}

// four serves 400 calls a second, and gets 280.
var four = overload.Load{Slots: 4, Service: always(10 * ms), Rate: 280, Length: 40 * sec, Timeout: sec}

func with(l overload.Load, change func(*overload.Load)) overload.Load {
	change(&l)
	return l
}

func scenarios() []scenario {
	slow := func(before, after time.Duration) overload.Load {
		return with(four, func(l *overload.Load) { l.Slots, l.Service = 100_000, from(20*sec, before, after) })
	}
	return []scenario{
		{"stall of 2 s at 70 % load", with(four, func(l *overload.Load) { l.Stall = [2]time.Duration{10 * sec, 12 * sec} }), true, 99},
		{"stall of 2 s at 90 % load", with(four, func(l *overload.Load) { l.Stall, l.Rate = [2]time.Duration{10 * sec, 12 * sec}, 360 }), false, 97},
		{"stall of 10 s", with(four, func(l *overload.Load) { l.Stall = [2]time.Duration{10 * sec, 20 * sec} }), false, 80},
		{"brown-out to 50 %, 20 s", with(four, func(l *overload.Load) { l.Service = from(20*sec, 10*ms, 20*ms) }), false, 90},
		{"1.4 × load", with(four, func(l *overload.Load) { l.Rate = 560 }), false, 70},
		{"handler that always takes 700 ms", slow(700*ms, 700*ms), false, 99.9},
		{"dependency slows from 20 to 400 ms", slow(20*ms, 400*ms), false, 97},
		{"dependency slows from 20 to 700 ms", slow(20*ms, 700*ms), true, 97},
	}
}

func TestServers(t *testing.T) {
	for name, client := range clients {
		for _, s := range scenarios() {
			if !s.short && !*all {
				continue
			}
			t.Run(name+", "+s.name, func(t *testing.T) {
				for range *runs {
					for _, server := range servers {
						out := run(t, s.load, client, server.admit)
						t.Logf("%-18s %5.1f %% succeed, %4.1f %% of the work in vain, %.2f requests a call", server.name, out.Percent(""),
							100*float64(out.Wasted)/float64(out.Served), float64(out.Served)/float64(out.Calls["/"]))
						if server.name == "Gate" {
							assert.GreaterOrEqual(t, out.Percent(""), s.least)
						}
					}
				}
			})
		}
	}
}

func run(t *testing.T, l overload.Load, client func(http.RoundTripper, overload.Load) *http.Client, admit func(http.Handler) http.Handler) (out overload.Outcome) {
	t.Helper()
	l.Client, l.Admit, l.Real = client, admit, *inReal
	measure := func(t *testing.T) {
		var err error
		out, err = l.Run(context.Background())
		require.NoError(t, err)
	}
	if *inReal {
		measure(t)
	} else {
		synctest.Test(t, measure)
	}
	return out
}
