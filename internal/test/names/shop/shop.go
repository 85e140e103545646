// Package shop has errors of a program's own that say whether to retry.
package shop

import "time"

// PaymentError is returned as a value, although a method belongs to the pointer.
type PaymentError struct{ Declined bool }

func (e PaymentError) Error() string { return "payment failed" }

// Retryable reports whether the payment was not declined.
func (e *PaymentError) Retryable() bool { return !e.Declined }

// BusyError is returned as a value, although the hint belongs to the pointer.
type BusyError struct{ Wait time.Duration }

func (e BusyError) Error() string { return "busy" }

// RetryAfter returns the wait.
func (e *BusyError) RetryAfter() time.Duration { return e.Wait }

// SlowError does not say in which unit the wait is.
type SlowError struct{}

func (SlowError) Error() string { return "slow" }

// RetryAfter returns a number.
func (SlowError) RetryAfter() int { return 30 }

// FlakyError reports itself as temporary.
type FlakyError struct{ Yes bool }

func (e FlakyError) Error() string { return "flaky" }

// Temporary returns Yes.
func (e FlakyError) Temporary() bool { return e.Yes }
