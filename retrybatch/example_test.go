package retrybatch_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
)

// A server that accepts two words of each call, and refuses one word for good.
func Example() {
	store := func(words []string) map[int]error {
		failed := map[int]error{}
		for i, word := range words {
			switch {
			case word == "":
				failed[i] = retry.Permanent(errors.New("empty word"))
			case i >= 2:
				failed[i] = retry.Throttled(errors.New("slow down"))
			}
		}
		return failed
	}

	batch := retrybatch.Batch[string]{
		Policy:   retry.Policy{Backoff: retry.NoDelay{}}, // without it, the waits begin with up to 1 s
		MaxItems: 4,
	}
	words := []string{"a", "rose", "", "is", "a", "rose"}
	failed, err := retrybatch.Do(context.Background(), batch, words, func(_ context.Context, words []string) (map[int]error, error) {
		fmt.Printf("%q\n", words)
		return store(words), nil
	})
	fmt.Println(err)
	for _, f := range failed {
		fmt.Println(f.Index, f.Fate, f.Err)
	}
	// Output:
	// ["a" "rose" "" "is"]
	// ["is" "a" "rose"]
	// ["rose"]
	// 1 of 6 items were not accepted (1 refused): empty word
	// 2 refused empty word
}
