package adapt_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// A consumer decides when to redeliver a failed message.
func ExampleDelayFor() {
	policy := retry.Policy{Backoff: retry.Exponential{Base: time.Minute}, MaxAttempts: 4}
	failure := errors.New("the warehouse does not respond")
	for delivery := 1; ; delivery++ {
		wait, reason := adapt.DelayFor(policy, "order-4711", delivery, failure)
		if reason != nil {
			fmt.Printf("delivery %d: %v\n", delivery, reason)
			return
		}
		fmt.Printf("delivery %d: again in %v\n", delivery, wait)
	}
	// Output:
	// delivery 1: again in 1m0s
	// delivery 2: again in 2m0s
	// delivery 3: again in 4m0s
	// delivery 4: all attempts used
}

// The function has the type that go-elasticsearch, franz-go and nats.go accept.
func ExampleOneBased() {
	delay := adapt.OneBased(retry.Policy{Backoff: retry.Exponential{Base: 100 * time.Millisecond}})
	fmt.Println(delay(1), delay(2), delay(3))
	// Output: 100ms 200ms 400ms
}
