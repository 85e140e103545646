// Command retry is the program hello with one call to this library.
package main

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry"
)

func main() {
	err := retry.Do(context.Background(), retry.Policy{}, func(context.Context) error {
		_, err := fmt.Println("hello, world")
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
}
