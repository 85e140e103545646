package awspreset

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
)

// An AdaptiveLimiter is a [retry.Limiter] that learns how many attempts per
// second a resource accepts. It is the rate limiter of the AWS SDKs' adaptive mode
// and limits nothing until an attempt is throttled. From then on, each attempt takes
// a token, and each outcome changes the rate of new tokens. Throttling sets this rate
// to 0.7 times its value or the measured rate of attempts, whichever is lower. Other
// outcomes raise it along a cubic curve, slowly near the rate that was last throttled
// and faster below and above it, up to twice the measured rate. It never falls below
// one token every two seconds. The bucket holds one second's worth of tokens, at
// least one, plus those reserved for waiting callers.
//
// Use it if a single client comes near the limit of a resource that reports
// throttling ([retry.ClassThrottled]), such as a table or an account's quota. Share
// one AdaptiveLimiter per resource, by pointer, among all policies and goroutines
// that call it. If it serves several resources, throttling by one slows down calls to
// all. It harms calls to a resource whose refusals do not prove one shared limit, such as a
// server that sheds load for a moment: calls stay slow for long after the last refusal.
//
// To get an SDK's adaptive mode, make it the Limiter of a preset's policy:
//
//	policy := awspreset.Standard21.Policy("")
//	policy.Limiter = new(awspreset.AdaptiveLimiter)
//
// The zero value is ready to use and limits as the AWS SDKs for Go v2 and JavaScript v3 do.
// Callers are served in the order of their arrival, and a caller in line profits at once
// when the rate rises. If 10,000 callers wait, others fail at once. If the clock goes
// backward, no time passes for the limiter. An AdaptiveLimiter is safe for concurrent use,
// must not be copied, starts no goroutine and holds no timer.
//
// It only delays attempts, so a [retry.Budget] is still needed.
//
// Source: boto/botocore 1.43.11, botocore/retries/adaptive.py, throttling.py,
// bucket.py; aws/aws-sdk-go-v2 v1.48.0, aws/retry/adaptive_ratelimit.go,
// adaptive_token_bucket.go; smithy-lang/smithy-typescript, @smithy/core 3.41.0,
// DefaultRateLimiter.
type AdaptiveLimiter struct {
	// Clock tells the time and waits; nil means the system clock. Do not change it
	// once the limiter is in use.
	Clock retry.Clock

	// InitialRate is the number of tokens per second from the first use until the first
	// outcome. It decides how many tokens there are after the first throttling. 0 or less
	// means none, as in most SDKs; botocore has 1. Do not change it once the limiter is in
	// use.
	InitialRate float64

	mu      sync.Mutex
	started bool
	enabled bool // has been throttled

	read    time.Time     // last reading of the clock
	elapsed time.Duration // at the last reading, since the whole second of the first use

	tokens, fill, capacity float64   // fill: per second; 0: no outcome yet
	issued                 uint64    // tickets
	line                   []*waiter // in order of arrival

	measured    float64       // per second, smoothed
	attempts    int           // since measuredAt
	measuredAt  time.Duration // a multiple of measureEvery
	curve       cubic
	throttledAt time.Duration
}

// A waiter is a caller in line.
type waiter struct {
	ticket uint64
	nap    context.Context    // of the wait in progress
	wake   context.CancelFunc // ends the nap, so that the caller looks again
}

// The constants of the AWS SDKs.
const (
	cubicBeta    = 0.7 // throttling multiplies the rate by this
	cubicScale   = 0.4 // how fast the curve rises
	smoothing    = 0.8 // weight of the newest measurement
	measureEvery = 500 * time.Millisecond
	minFill      = 0.5
	minCapacity  = 1
	maxGrowth    = 2 // times the measured rate
)

// longestStep bounds clock steps, so that the arithmetic cannot overflow. Longer
// steps would not change the rates.
const longestStep = 24 * time.Hour

// longestLine bounds the callers in line, and so the memory that a server which only throttles
// can make a client use.
const longestLine = 10_000

var errLineFull = fmt.Errorf("adaptive limiter: %d callers already wait", longestLine)

// Wait waits until the next attempt may start. If ctx ends first, Wait takes no
// token and returns the error of ctx or of the Clock.
func (l *AdaptiveLimiter) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, wait, err := l.join(ctx)
	for wait > 0 && err == nil {
		err = l.sleep(w.nap, wait)
		woken := w.nap.Err() != nil
		w.wake() // releases the context
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case woken:
			err = nil
		}
		if err != nil {
			l.leave(w)
			break
		}
		wait = l.again(ctx, w)
	}
	return err
}

// Observe adjusts the rate after an attempt. [retry.Do] calls it; other callers of
// Wait must call it, too.
func (l *AdaptiveLimiter) Observe(a retry.Attempt) {
	throttled := a.Err != nil && a.Class == retry.ClassThrottled
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start()
	l.advance()
	l.measure()
	before := l.fill
	if throttled {
		rate := l.measured
		if l.enabled {
			rate = min(rate, l.fill)
		}
		l.curve = throttledAtRate(rate)
		l.throttledAt = l.elapsed
		l.enabled = true
		l.grow(rate * cubicBeta)
	} else {
		since := l.elapsed - l.throttledAt
		l.grow(l.curve.rate(since.Seconds()))
	}
	if l.fill > before {
		l.wakeFirst()
	}
}

// Rate returns the number of attempts allowed per second, at least 0.5, or 0 (no
// limit) if no attempt has been throttled yet.
func (l *AdaptiveLimiter) Rate() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.enabled {
		return 0
	}
	return l.fill
}

// join returns how long to wait. A wait of 0 means that the caller has a token or needs
// none. Otherwise the caller is in line.
func (l *AdaptiveLimiter) join(ctx context.Context) (*waiter, time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start()
	if !l.enabled {
		return nil, 0, nil
	}
	if len(l.line) >= longestLine {
		return nil, 0, errLineFull
	}
	w := &waiter{ticket: l.issued}
	l.issued++
	l.line = append(l.line, w)
	return w, l.take(ctx, w), nil
}

func (l *AdaptiveLimiter) again(ctx context.Context, w *waiter) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(ctx, w)
}

func (l *AdaptiveLimiter) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(l.position(w))
}

// take takes a token if there are also enough for all callers ahead. Otherwise it returns how
// long the caller must wait at the present rate. Until then, wakeFirst wakes the caller if
// it becomes the first in line, and whenever the rate rises while it is the first.
func (l *AdaptiveLimiter) take(ctx context.Context, w *waiter) time.Duration {
	l.advance()
	inFront := l.position(w)
	missing := 1 + float64(inFront) - l.tokens
	if missing <= 0 {
		l.tokens--
		l.remove(inFront)
		return 0
	}
	w.nap, w.wake = context.WithCancel(ctx)
	return dur.Saturate(math.Ceil(missing/l.fill*1e9), math.MaxInt64)
}

// position returns the number of callers ahead of w.
func (l *AdaptiveLimiter) position(w *waiter) int {
	inFront, _ := slices.BinarySearchFunc(l.line, w.ticket, func(other *waiter, ticket uint64) int {
		return cmp.Compare(other.ticket, ticket)
	})
	return inFront
}

// remove removes a caller from the line. The new first one looks again, because it has
// computed its wait with another place in line.
func (l *AdaptiveLimiter) remove(position int) {
	l.line = slices.Delete(l.line, position, position+1)
	if position == 0 {
		l.wakeFirst()
	}
}

func (l *AdaptiveLimiter) wakeFirst() {
	if len(l.line) > 0 && l.line[0].wake != nil {
		l.line[0].wake()
	}
}

func (l *AdaptiveLimiter) start() {
	if l.started {
		return
	}
	l.started = true
	l.read = l.now()
	// Measurements begin at a whole second.
	l.elapsed = time.Duration(l.read.Nanosecond())
	l.throttledAt = l.elapsed
	if l.InitialRate > 0 {
		l.setRate(l.InitialRate)
	}
}

func (l *AdaptiveLimiter) advance() {
	at := l.now()
	step := min(max(0, at.Sub(l.read)), longestStep)
	l.read = at
	l.elapsed += step
	l.tokens = min(l.most(), l.tokens+step.Seconds()*l.fill)
}

// most returns the capacity of the bucket, including tokens reserved for callers in
// line. Without the reserved tokens, a long line would starve: callers at the front
// give up before they look again, and those behind them find too few tokens.
func (l *AdaptiveLimiter) most() float64 {
	return l.capacity + float64(max(0, len(l.line)-1))
}

func (l *AdaptiveLimiter) measure() {
	l.attempts++
	at := l.elapsed.Truncate(measureEvery)
	if at <= l.measuredAt {
		return
	}
	rate := float64(l.attempts) / (at - l.measuredAt).Seconds()
	l.measured = rate*smoothing + l.measured*(1-smoothing)
	l.attempts, l.measuredAt = 0, at
}

func (l *AdaptiveLimiter) grow(rate float64) {
	l.setRate(min(rate, maxGrowth*l.measured))
}

func (l *AdaptiveLimiter) setRate(rate float64) {
	l.fill = max(rate, minFill)
	l.capacity = max(rate, minCapacity)
	l.tokens = min(l.tokens, l.most())
}

func (l *AdaptiveLimiter) now() time.Time {
	if l.Clock == nil {
		return time.Now()
	}
	return l.Clock.Now()
}

func (l *AdaptiveLimiter) sleep(ctx context.Context, d time.Duration) error {
	if l.Clock == nil {
		return retry.SystemClock{}.Sleep(ctx, d)
	}
	return l.Clock.Sleep(ctx, d)
}

// cubic is the allowed rate as a function of the time since throttling: it begins at
// cubicBeta · top, levels off when it reaches the value top (after the time window),
// and then rises again. A limiter that has never been throttled has the zero cubic.
type cubic struct {
	top    float64 // attempts per second when throttled
	window float64 // seconds
}

func throttledAtRate(rate float64) cubic {
	return cubic{top: rate, window: math.Cbrt(rate * (1 - cubicBeta) / cubicScale)}
}

func (c cubic) rate(seconds float64) float64 {
	d := seconds - c.window
	return cubicScale*d*d*d + c.top
}
