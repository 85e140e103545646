// Command failsafe is the program hello with one call to failsafe-go.
package main

import (
	"fmt"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

func main() {
	err := failsafe.With(retrypolicy.NewWithDefaults[any]()).Run(func() error {
		_, err := fmt.Println("hello, world")
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
}
