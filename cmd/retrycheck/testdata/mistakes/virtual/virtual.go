package virtual

import (
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

var policy = retry.Policy{Clock: &retrytest.Clock{}} // mistake
