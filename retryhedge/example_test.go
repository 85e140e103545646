package retryhedge_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhedge"
)

// The first call hangs, as one in many does. The budget starts empty, so this Hedge has that
// of the retries.
func ExampleDo() {
	hedge := &retryhedge.Hedge{After: 20 * time.Millisecond, Budget: &awspreset.TokenBudget{}}
	user, err := retryhedge.Do(context.Background(), hedge, "users", loadUser)
	fmt.Println(user, err)
	// Output: Ada <nil>
}

var hangs = make(chan bool, 1)

func loadUser(ctx context.Context) (string, error) {
	select {
	case hangs <- true:
		<-ctx.Done()
		return "", ctx.Err()
	default:
		return "Ada", nil
	}
}
