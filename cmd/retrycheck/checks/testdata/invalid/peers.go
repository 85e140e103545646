package invalid

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

var (
	constant = &backoff.ExponentialBackOff{InitialInterval: 250 * time.Millisecond, MaxInterval: 15 * time.Second} // want `without a Multiplier, this delay never grows: begin with backoff.NewExponentialBackOff`
	empty    = &backoff.ExponentialBackOff{}
)
