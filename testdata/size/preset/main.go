// Command preset is do with the policy of a preset.
package main

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

func main() {
	err := retry.Do(context.Background(), awspreset.Standard2026.Policy(""), func(context.Context) error {
		_, err := fmt.Println("hello, world")
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
}
