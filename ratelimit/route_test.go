package ratelimit_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/ratelimit"
)

func on(route string) context.Context { return ratelimit.WithRoute(context.Background(), route) }

// callOn makes a request on a route that takes 10 ms.
func callOn(t *testing.T, l *ratelimit.Limiter, route string, r ratelimit.Response) {
	t.Helper()
	require.NoError(t, l.Wait(on(route)))
	b := l.Begin(on(route))
	time.Sleep(10 * ms)
	l.Hear(b, r)
}

func tells(limit, left float64, reset time.Duration) ratelimit.Response {
	return ratelimit.Response{OK: true, States: state(limit, left, reset)}
}

func refuses(limit float64, reset time.Duration) ratelimit.Response {
	return ratelimit.Response{Refused: true, Hint: reset, States: state(limit, 0, reset)}
}

// TestRoutes: a call waits for the limits that its own route was told of.
func TestRoutes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(*testing.T, *ratelimit.Limiter) // what route "a" is told, and others
		route  string
		want   time.Duration
	}{
		{"its own limit", func(*testing.T, *ratelimit.Limiter) {}, "a", 9 * sec},
		{"another limit", func(t *testing.T, l *ratelimit.Limiter) {
			callOn(t, l, "b", tells(5000, 4000, time.Hour))
		}, "b", 0},
		{"a limit that looks the same, but of which more is left", func(t *testing.T, l *ratelimit.Limiter) {
			callOn(t, l, "b", tells(100, 99, 10*sec))
		}, "b", 0},
		{"the same limit", func(t *testing.T, l *ratelimit.Limiter) {
			callOn(t, l, "b", tells(100, 0, 9*sec))
		}, "b", 9 * sec},
		{"no limit", func(t *testing.T, l *ratelimit.Limiter) {
			callOn(t, l, "b", ratelimit.Response{OK: true})
		}, "b", 0},
		{"a new route, beside one", func(*testing.T, *ratelimit.Limiter) {}, "c", 0},
		{"a new route, beside several with one limit", func(t *testing.T, l *ratelimit.Limiter) {
			callOn(t, l, "b", tells(100, 0, 9*sec))
		}, "c", 9 * sec},
		{"a new route, beside several with two limits", func(t *testing.T, l *ratelimit.Limiter) {
			callOn(t, l, "b", tells(5000, 4000, time.Hour))
		}, "c", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ratelimit.Limiter{}
				callOn(t, l, "a", tells(100, 50, 9*sec))
				callOn(t, l, "a", refuses(100, 9*sec))
				tt.before(t, l)
				assert.InDelta(t, tt.want.Seconds(), waits(t, l, on(tt.route)).Seconds(), 0.2)
			})
		})
	}
}

// TestTwoCounts: two routes have limits that look the same until one of them is used up.
func TestTwoCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		callOn(t, l, "a", tells(100, 99, 30*sec))
		callOn(t, l, "b", tells(100, 98, 30*sec))
		callOn(t, l, "a", tells(100, 97, 30*sec))
		callOn(t, l, "a", refuses(100, 29*sec))
		callOn(t, l, "a", tells(100, 1, 20*sec)) // after the reset that the refusal has told
		assert.Len(t, l.Stats().States, 1)
		time.Sleep(ms)
		b := l.Begin(on("b"))
		time.Sleep(10 * ms)
		l.Hear(b, tells(100, 97, 20*sec))
		assert.Len(t, l.Stats().States, 2)
		l.Hear(l.Begin(on("a")), refuses(100, 19*sec))
		assert.Zero(t, waits(t, l, on("b")))
		assert.InDelta(t, 19, waits(t, l, on("a")).Seconds(), 0.2)
	})
}

// TestBucketOfTwoRoutes: what is left of a bucket grows, and it is one limit all the same.
func TestBucketOfTwoRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		callOn(t, l, "a", tells(60, 0, 60*sec))
		for left := range 50 {
			time.Sleep(990 * ms)
			route := string(rune('a' + left%2))
			b := l.Begin(on(route))
			time.Sleep(10 * ms)
			l.Hear(b, tells(60, float64(left+1), time.Duration(59-left)*sec))
		}
		assert.Len(t, l.Stats().States, 1)
	})
}

// TestManyRoutes: what is known of routes and limits has a bound, whatever the server tells.
func TestManyRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		for n := range 3000 {
			callOn(t, l, fmt.Sprint(n), tells(float64(100+n), float64(99+n), 9*sec))
		}
		assert.Len(t, l.Stats().States, 32)
		callOn(t, l, "a", refuses(10, 9*sec))
		assert.InDelta(t, 9, waits(t, l, on("a")).Seconds(), 0.2)
	})
}

// TestForgottenLimit: a route does not wait for a limit of which it is not told any more.
func TestForgottenLimit(t *testing.T) {
	for _, tt := range []struct {
		name string
		now  ratelimit.Response
		stay time.Duration
		want time.Duration
	}{
		{"another limit took its place", tells(5000, 4999, time.Hour), 0, 0},
		{"nothing is told any more", ratelimit.Response{OK: true}, 0, 50 * sec},
		{"nothing is told for a window", ratelimit.Response{OK: true}, 61 * sec, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ratelimit.Limiter{}
				b := l.Begin(on("a"))
				callOn(t, l, "a", tells(100, 50, 60*sec))
				callOn(t, l, "a", refuses(100, 60*sec))
				time.Sleep(tt.stay)
				if tt.stay > 0 {
					b = l.Begin(on("a"))
				}
				time.Sleep(10 * sec)
				l.Hear(b, tt.now)
				assert.InDelta(t, tt.want.Seconds(), waits(t, l, on("a")).Seconds(), 0.3)
			})
		})
	}
}

// TestRefusedRoutes: without headers, the routes that are refused wait, and others do not.
func TestRefusedRoutes(t *testing.T) {
	refusal := ratelimit.Response{Refused: true, Hint: 30 * sec}
	for _, tt := range []struct {
		name    string
		refused []string
		route   string
		want    time.Duration
	}{
		{"refused", []string{"a", "a", "a"}, "a", 10 * sec},
		{"another", []string{"a", "a", "a"}, "b", 0},
		{"a new one, beside one that is refused", []string{"a", "a", "a"}, "c", 0},
		{"a new one, beside several that are refused", []string{"a", "d", "a"}, "c", 10 * sec},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ratelimit.Limiter{}
				callOn(t, l, "b", ratelimit.Response{OK: true})
				for _, route := range tt.refused {
					l.Hear(l.Begin(on(route)), refusal)
				}
				assert.InDelta(t, tt.want.Seconds(), waits(t, l, on(tt.route)).Seconds(), 0.2)
			})
		})
	}
}

// TestRefusedNoMore: a call that waits for the learned rate waits no longer once its route does
// not have to, like a call that comes later.
func TestRefusedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		var others []ratelimit.Begun
		for range 200 {
			others = append(others, l.Begin(on("a")))
		}
		time.Sleep(ms)
		for i := range 12 { // the rate is below one call in a second now
			l.Hear(l.Begin(on("b")), ratelimit.Response{Refused: true})
			if i%6 == 0 {
				l.Hear(l.Begin(on("a")), ratelimit.Response{Refused: true})
			}
			time.Sleep(sec)
		}
		ended := make(chan time.Duration, 3)
		start := time.Now()
		for range cap(ended) {
			go func() { ended <- waits(t, l, on("a")) }()
		}
		synctest.Wait()
		for _, b := range others { // began before the refusals, and succeed
			l.Hear(b, ratelimit.Response{OK: true})
		}
		for range cap(ended) {
			<-ended
		}
		assert.Less(t, time.Since(start), sec)
	})
}
