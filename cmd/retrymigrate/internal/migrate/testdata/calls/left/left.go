package left

import (
	"time"

	"github.com/cenkalti/backoff/v4" // want "0 of 4 calls can be rewritten"
)

// Given is exported, so that other packages depend on the type of its parameter.
func Given(b backoff.BackOff) error {
	return backoff.Retry(ping, b) // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
}

type own struct{}

func (own) NextBackOff() time.Duration { return time.Second }
func (own) Reset()                     {}

func ownBackOff() error {
	return backoff.Retry(ping, own{}) // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
}

func branch(slow bool) error {
	b := backoff.NewExponentialBackOff()
	if slow {
		b.InitialInterval = time.Second
	}
	return backoff.Retry(ping, b) // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
}

func limited(short bool) error {
	b := backoff.NewExponentialBackOff()
	if short {
		b.MaxElapsedTime = time.Second
	}
	return backoff.Retry(ping, b) // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
}

func ping() error { return backoff.Permanent(nil) }
