package known_test

import (
	"archive/zip"
	"context"
	"fmt"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/known"
)

func Example() {
	policy := retry.Policy{Classifier: known.Classifier{}}
	attempts := 0
	err := retry.Do(context.Background(), policy, func(context.Context) error {
		attempts++
		_, err := zip.NewReader(strings.NewReader("no archive"), 10)
		return err
	})
	fmt.Println(attempts, err)
	// Output: 1 zip: not a valid zip file
}
