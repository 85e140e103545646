package slower

import (
	"time"

	"github.com/gobackoff/retry"
)

var policy = retry.Policy{MaxElapsed: 5 * time.Second, AttemptTimeout: 10 * time.Second} // mistake
