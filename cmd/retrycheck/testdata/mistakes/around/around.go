package around

import (
	"context"
	"log"
	"time"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, op func(context.Context) error) {
	for {
		err := retry.Do(ctx, retry.Policy{}, op)
		if err == nil {
			return
		}
		log.Print(err)
		time.Sleep(time.Minute) // mistake
	}
}
