// Loop around Do.
package looped

import (
	"context"
	"log"
	"time"

	"github.com/gobackoff/retry"
)

func Run(ctx context.Context, op func(context.Context) error) {
	for {
		err := retry.Do(ctx, retry.Policy{MaxAttempts: 5}, op)
		if err == nil {
			return
		}
		log.Print("failed, try again: ", err)
		time.Sleep(time.Second) // mistake
	}
}
