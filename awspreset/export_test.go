package awspreset

import (
	"time"

	"github.com/gobackoff/retry"
)

// These functions return the SDKs' backoff rules with any parameters.

func WholeFull(base, limit time.Duration) retry.Backoff { return wholeFull{base, limit} }
func JavaFull(base, limit time.Duration) retry.Backoff  { return javaFull{base, limit} }
func JavaEqual(base, limit time.Duration) retry.Backoff { return javaEqual{base, limit} }
func GoFull(limit time.Duration) retry.Backoff          { return goFull{limit} }

// The SDKs' limiters.
var (
	AdaptiveBotocore     = adaptiveBotocore
	AdaptiveGoV2         = adaptiveGoV2
	AdaptiveJavaV1       = adaptiveJavaV1
	AdaptiveJavaScriptV3 = adaptiveJavaScriptV3
)

// Rules returns the SDK-specific rules.
func (l *AdaptiveLimiter) Rules() any { return l.rules }

// AdaptiveJavaScriptV3Before43 is the limiter of @smithy/util-retry 4.2.9, which waits
// once and takes a token even if there is none.
func AdaptiveJavaScriptV3Before43() *AdaptiveLimiter {
	l := adaptiveJavaScriptV3()
	l.rules.debt = true
	return l
}

// AdaptiveBucket returns a limiter for use as a token bucket.
func AdaptiveBucket(fill float64) *AdaptiveLimiter {
	l := adaptiveBotocore()
	l.rules.initialFill = fill
	l.enabled = true
	return l
}

// AdaptiveState is a limiter's state in a trace. Times are in seconds.
type AdaptiveState struct {
	Enabled     bool    `json:"enabled"`
	Fill        float64 `json:"fill_rate"`
	Capacity    float64 `json:"max_capacity"`
	Tokens      float64 `json:"tokens"`
	Measured    float64 `json:"measured_tx_rate"`
	Top         float64 `json:"last_max_rate"`
	Window      float64 `json:"time_window"`
	ThrottledAt float64 `json:"last_throttle_time"`
	MeasuredAt  float64 `json:"last_tx_rate_bucket"`
	Attempts    float64 `json:"request_count"`
}

// State returns the state after the last event.
func (l *AdaptiveLimiter) State() AdaptiveState {
	l.mu.Lock()
	defer l.mu.Unlock()
	seconds := func(at time.Duration) float64 { return float64(l.read.Add(at-l.elapsed).UnixNano()) / 1e9 }
	return AdaptiveState{
		Enabled: l.enabled, Fill: l.fill, Capacity: l.capacity, Tokens: l.tokens,
		Measured: l.measured, Top: l.curve.top, Window: l.curve.window,
		ThrottledAt: seconds(l.throttledAt), MeasuredAt: seconds(l.measuredAt), Attempts: float64(l.attempts),
	}
}

// Start starts the limiter, as its first use and the SDKs' constructors do.
func (l *AdaptiveLimiter) Start() { l.start() }

// SetRate changes the rate.
func (l *AdaptiveLimiter) SetRate(rate float64) {
	l.advance()
	l.setRate(rate)
}

// Cubic calculates the allowed rate.
type Cubic struct{ curve cubic }

// Throttle records throttling at the given rate and returns the new rate.
func (c *Cubic) Throttle(rate float64) float64 {
	c.curve = throttledAtRate(rate)
	return c.curve.rate(0)
}

// Rate returns the rate allowed at the given number of seconds after throttling.
func (c *Cubic) Rate(seconds float64) float64 { return c.curve.rate(seconds) }

// Shape returns the curve's parameters.
func (c *Cubic) Shape() (top, window float64) { return c.curve.top, c.curve.window }
