// Command avast is the program hello with one call to avast/retry-go.
package main

import (
	"fmt"

	"github.com/avast/retry-go/v5"
)

func main() {
	err := retry.New().Do(func() error {
		_, err := fmt.Println("hello, world")
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
}
