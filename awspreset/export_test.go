package awspreset

import (
	"time"

	"github.com/gobackoff/retry"
)

// These functions return the SDKs' backoff rules with any parameters.

func WholeFull(base, limit time.Duration) retry.Backoff { return wholeFull{base, limit} }
func JavaFull(base, limit time.Duration) retry.Backoff  { return javaFull{base, limit} }
func JavaEqual(base, limit time.Duration) retry.Backoff { return javaEqual{base, limit} }
func GoV2Full(limit time.Duration) retry.Backoff        { return goV2Full{limit} }
func GoV1Equal(least, limit time.Duration) retry.Backoff {
	return goV1Equal{least, limit}
}

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
