// Command sethvargo is the program hello with one call to sethvargo/go-retry.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sethvargo/go-retry"
)

func main() {
	backoff := retry.WithMaxRetries(2, retry.NewExponential(50*time.Millisecond))
	err := retry.Do(context.Background(), backoff, func(context.Context) error {
		_, err := fmt.Println("hello, world")
		return retry.RetryableError(err)
	})
	if err != nil {
		fmt.Println(err)
	}
}
