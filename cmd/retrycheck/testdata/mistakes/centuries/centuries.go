package centuries

import (
	"time"

	"github.com/gobackoff/retry"
)

var policy = retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: 60} // mistake
