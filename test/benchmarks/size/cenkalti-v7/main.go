// Command cenkalti-v7 is the program hello with one call to cenkalti/backoff.
package main

import (
	"context"
	"fmt"

	"github.com/cenkalti/backoff/v7"
)

func main() {
	_, err := backoff.Retry(context.Background(), func() (int, error) {
		return fmt.Println("hello, world")
	})
	if err != nil {
		fmt.Println(err)
	}
}
