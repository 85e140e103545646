package slowattempt

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

var policy = retry.Policy{AttemptTimeout: time.Second, Classifier: retry.PermanentIf(context.DeadlineExceeded)} // mistake
