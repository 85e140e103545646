package never

import (
	"time"

	"github.com/gobackoff/retry"
)

var policy = retry.Policy{Backoff: retry.Exponential{Base: time.Minute, Cap: time.Hour}, MaxElapsed: 30 * time.Second} // mistake
