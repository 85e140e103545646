package fake

import (
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

var hurried = retry.Policy{
	Clock: &retrytest.Clock{}, // want `retrytest.Clock is for tests: with it, retries do not wait`
	Rand:  retrytest.Fixed(0), // want `retrytest.Fixed is for tests: with it, retries do not wait`
}

var patient = retry.Policy{MaxAttempts: 5}
