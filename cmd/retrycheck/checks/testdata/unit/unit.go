package unit

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gobackoff/retry"
	sethvargo "github.com/sethvargo/go-retry"
	"k8s.io/apimachinery/pkg/util/wait"
)

const base = 100

const delay time.Duration = 500 // and its unit

var seconds = 5

var _ = []any{
	retry.FullJitter{Base: 100, Cap: 20 * time.Second}, // want `this is 100 nanoseconds: multiply the number by a unit`
	retry.Policy{MaxElapsed: 30, AttemptTimeout: (5)},  // want `this is 30 nanoseconds` `this is 5 nanoseconds`
	retry.Constant(250),                         // want `this is 250 nanoseconds`
	retry.Schedule{100, 200 * time.Millisecond}, // want `this is 100 nanoseconds`
	retry.Linear{Step: time.Duration(50)},       // want `this is 50 nanoseconds`
	sethvargo.NewConstant(500),                  // want `this is 500 nanoseconds`
	wait.Backoff{Duration: 10, Steps: 3},        // want `this is 10 nanoseconds`
	http.Client{Timeout: 30},                    // want `this is 30 nanoseconds`
	retry.Linear{Step: base, Cap: delay},        // want `this is 100 nanoseconds`

	retry.FullJitter{Base: 100 * time.Millisecond},
	retry.FullJitter{Base: 1e8},
	retry.FullJitter{Base: time.Duration(seconds) * time.Second},
	retry.FullJitter{Base: base * time.Millisecond},
	retry.Policy{MaxAttempts: 5, MaxElapsed: 0},
	retry.Constant(time.Second),
	retry.Constant(3 * time.Second),
	http.Client{Timeout: 0},
}

func later(ctx context.Context) (context.Context, context.CancelFunc) {
	var p retry.Policy
	p.MaxElapsed = 60 // want `this is 60 nanoseconds`
	p.MaxAttempts = 60
	time.Sleep(1)                       // yields: vet's business
	return context.WithTimeout(ctx, 10) // want `this is 10 nanoseconds`
}

type config struct {
	TimeoutSeconds int
	DelayMS        int64
	Nanos          int64
}

func configured(c config, err error) []any {
	wait, _ := strconv.Atoi(os.Getenv("WAIT"))
	elapsed := time.Duration(c.TimeoutSeconds) // want `this takes TimeoutSeconds as nanoseconds: multiply the Duration by its unit`
	return []any{
		retry.Policy{AttemptTimeout: time.Duration(c.TimeoutSeconds)}, // want `this takes TimeoutSeconds as nanoseconds: multiply the Duration by its unit, such as time.Second`
		retry.Policy{MaxElapsed: elapsed},
		retry.Constant(time.Duration(c.DelayMS)),
		retry.After(err, time.Duration(wait)), // want `this takes wait as nanoseconds`

		retry.After(err, time.Duration(wait)*time.Second),
		retry.Policy{MaxElapsed: time.Duration(c.Nanos)},
		retry.Policy{MaxElapsed: time.Duration(c.TimeoutSeconds) * time.Second},
		time.Duration(c.TimeoutSeconds),
	}
}
