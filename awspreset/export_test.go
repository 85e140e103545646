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

// AdaptiveState is a limiter's state.
type AdaptiveState struct {
	Enabled                                       bool
	Fill, Capacity, Tokens, Measured, Top, Window float64
}

// State returns the state after the last event.
func (l *AdaptiveLimiter) State() AdaptiveState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return AdaptiveState{l.enabled, l.fill, l.capacity, l.tokens, l.measured, l.curve.top, l.curve.window}
}

// Start starts the limiter, as its first use and the SDKs' constructors do.
func (l *AdaptiveLimiter) Start() { l.start() }
