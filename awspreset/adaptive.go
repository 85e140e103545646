package awspreset

import (
	"context"
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
// all. It harms calls to a resource whose refusals do not prove one shared limit: in
// simulations, 3 % of the calls succeeded at 1.4 times the rate of a token bucket (76 %
// without it), 25 to 40 % around a stall of a server with an admit.Gate (87 %), and 40 to
// 52 % if 1 % of the calls were throttled with a wrong hint (99 %).
//
// The zero value is ready to use and follows the SDKs' common description as of
// November 2026. Callers are served in order of arrival; a waiting caller may take up
// to a second to notice that a caller ahead of it has left. If the clock goes backward,
// no time passes for the limiter. An AdaptiveLimiter is safe for concurrent use, must
// not be copied, starts no goroutine and holds no timer.
//
// It only delays attempts, so a [retry.Budget] is still needed.
//
// Source: boto/botocore 1.43.11, botocore/retries/adaptive.py, throttling.py,
// bucket.py; aws/aws-sdk-go-v2 v1.48.0, aws/retry/adaptive_ratelimit.go,
// adaptive_token_bucket.go; smithy-lang/smithy-typescript, @smithy/core 3.41.0,
// DefaultRateLimiter; aws/aws-sdk-java at e8ea7076 (1.12, 2024),
// com/amazonaws/internal/TokenBucket.java.
type AdaptiveLimiter struct {
	// Clock tells the time and waits; nil means the system clock. Do not change it
	// once the limiter is in use.
	Clock retry.Clock

	rules adaptiveRules

	mu      sync.Mutex
	started bool
	enabled bool // has been throttled

	read    time.Time     // last reading of the clock
	elapsed time.Duration // at the last reading, since the whole second of the first use

	tokens, fill, capacity float64 // fill: per second; 0: no outcome yet
	issued                 uint64
	line                   []uint64 // tickets of waiting callers, in order

	measured    float64       // per second, smoothed
	attempts    int           // since measuredAt
	measuredAt  time.Duration // a multiple of measureEvery
	curve       cubic
	throttledAt time.Duration
}

// Common reports whether l follows the SDKs' common description, as the zero value does,
// and not one of the SDKs.
func (l *AdaptiveLimiter) Common() bool { return l.rules == adaptiveRules{} }

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

// lookAgain bounds the waits of callers that are not next in line, because the
// rate may rise in the meantime.
const lookAgain = time.Second

// adaptiveRules describes how an SDK's limiter differs from the zero AdaptiveLimiter.
type adaptiveRules struct {
	initialFill    float64       // tokens per second before the first outcome
	debt           bool          // take a token at once and wait once, without checking again
	waitUnit       time.Duration // waits are truncated to multiples; 0: rounded up to nanoseconds
	eightDecimals  bool          // rounds rates and the curve's window to eight decimals
	ignoreFailures bool          // except throttling
	followBack     bool          // a clock that goes backward removes up to a second's worth of tokens
}

// adaptiveBotocore limits as boto/botocore 1.43.11 does, except that raising the rate
// does not end a wait in progress.
func adaptiveBotocore() *AdaptiveLimiter {
	return &AdaptiveLimiter{rules: adaptiveRules{initialFill: 1, followBack: true}}
}

// adaptiveGoV2 limits as aws/aws-sdk-go-v2 v1.48.0 does.
func adaptiveGoV2() *AdaptiveLimiter {
	return &AdaptiveLimiter{rules: adaptiveRules{followBack: true}}
}

// adaptiveJavaV1 limits as aws/aws-sdk-java at e8ea7076 (1.12, 2024) does.
func adaptiveJavaV1() *AdaptiveLimiter {
	return &AdaptiveLimiter{rules: adaptiveRules{debt: true, waitUnit: time.Millisecond, ignoreFailures: true}}
}

// adaptiveJavaScriptV3 limits as @smithy/core 3.41.0 does, but with a clock finer than
// milliseconds.
func adaptiveJavaScriptV3() *AdaptiveLimiter {
	return &AdaptiveLimiter{rules: adaptiveRules{eightDecimals: true, followBack: true}}
}

// Wait waits until the next attempt may start. If ctx ends first, Wait takes no
// token and returns the error of ctx or of the Clock.
func (l *AdaptiveLimiter) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ticket, wait := l.join()
	for wait > 0 {
		if err := l.sleep(ctx, wait); err != nil {
			l.leave(ticket)
			return err
		}
		if l.rules.debt {
			return nil
		}
		wait = l.again(ticket)
	}
	return nil
}

// Observe adjusts the rate after an attempt. [retry.Do] calls it; other callers of
// Wait must call it, too.
func (l *AdaptiveLimiter) Observe(a retry.Attempt) {
	throttled := a.Err != nil && a.Class == retry.ClassThrottled
	if l.rules.ignoreFailures && a.Err != nil && !throttled {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start()
	l.advance()
	l.measure()
	if !throttled {
		since := l.elapsed - l.throttledAt
		l.grow(l.curve.rate(since.Seconds()))
		return
	}
	rate := l.measured
	if l.enabled {
		rate = min(rate, l.fill)
	}
	l.curve = throttledAtRate(rate)
	l.curve.window = l.rules.round(l.curve.window)
	l.throttledAt = l.elapsed
	l.enabled = true
	l.grow(rate * cubicBeta)
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

// join returns a ticket and how long to wait. A wait of 0 means that the caller
// has a token or needs none.
func (l *AdaptiveLimiter) join() (ticket uint64, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start()
	if !l.enabled {
		return 0, 0
	}
	ticket = l.issued
	l.issued++
	l.line = append(l.line, ticket)
	return ticket, l.take(ticket)
}

func (l *AdaptiveLimiter) again(ticket uint64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(ticket)
}

func (l *AdaptiveLimiter) leave(ticket uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rules.debt {
		l.tokens = min(l.capacity, l.tokens+1)
		return
	}
	i, _ := slices.BinarySearch(l.line, ticket)
	l.line = slices.Delete(l.line, i, i+1)
}

// take takes a token if there are also enough for all callers ahead or if rules.debt is
// set. It returns how long the caller must wait.
func (l *AdaptiveLimiter) take(ticket uint64) time.Duration {
	l.advance()
	inFront, _ := slices.BinarySearch(l.line, ticket)
	missing := 1 + float64(inFront) - l.tokens
	if missing <= 0 || l.rules.debt {
		l.tokens--
		l.line = slices.Delete(l.line, inFront, inFront+1)
	}
	ns := missing / l.fill * 1e9
	if unit := float64(l.rules.waitUnit); unit > 0 {
		ns = math.Floor(ns/unit) * unit
	}
	wait := dur.Saturate(math.Ceil(ns), math.MaxInt64)
	if inFront > 0 {
		wait = min(wait, lookAgain)
	}
	return wait
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
	if l.rules.initialFill > 0 {
		l.setRate(l.rules.initialFill)
	}
}

func (l *AdaptiveLimiter) advance() {
	at := l.now()
	least := time.Duration(0)
	if l.rules.followBack {
		least = -time.Second
	}
	step := min(max(least, at.Sub(l.read)), longestStep)
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
	l.measured = l.rules.round(rate*smoothing + l.measured*(1-smoothing))
	l.attempts, l.measuredAt = 0, at
}

func (l *AdaptiveLimiter) grow(rate float64) {
	l.setRate(min(l.rules.round(rate), maxGrowth*l.measured))
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

func (r *adaptiveRules) round(x float64) float64 {
	if !r.eightDecimals {
		return x
	}
	n := math.Round(x * 1e8)
	// x · 1e8 may have been rounded up to a multiple of ½: 0.7 times a number with 8
	// decimals can be just below such a multiple.
	if math.FMA(x, 1e8, -n) < -0.5 {
		n--
	}
	return n / 1e8
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
