package retryconfig_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

func ExampleParse() {
	policy, err := retryconfig.Parse("full base=50ms cap=20s attempts=5 elapsed=1m")
	fmt.Println(policy.MaxAttempts, policy.MaxElapsed, err)
	_, err = retryconfig.Parse("full base=50 atempts=5")
	fmt.Println(err)
	// Output:
	// 5 1m0s <nil>
	// invalid retry policy "full base=50 atempts=5": base=50 needs a unit, as in 50ms or 50s; unknown key "atempts"; did you mean "attempts"?
}

// A mapping changes only what it names.
func ExamplePolicy() {
	config := struct{ Retry retryconfig.Policy }{
		retryconfig.Policy{Policy: retry.Policy{Backoff: retry.FullJitter{Base: 100 * time.Millisecond}, MaxAttempts: 5}},
	}
	err := json.Unmarshal([]byte(`{"Retry": {"attempts": 7}}`), &config)
	fmt.Println(config.Retry, err)
	err = json.Unmarshal([]byte(`{"Retry": "equal base=1s"}`), &config)
	fmt.Println(config.Retry, err)
	// Output:
	// full base=100ms attempts=7 <nil>
	// equal base=1s attempts=3 <nil>
}

func ExamplePolicy_flag() {
	policy := retryconfig.Policy{Policy: retry.Policy{MaxAttempts: 5}} // the default
	flags := flag.NewFlagSet("program", flag.ContinueOnError)
	flags.TextVar(&policy, "retry", policy, "retry `policy`")
	err := flags.Parse([]string{"-retry", "full base=1s attempts=4"})
	fmt.Println(policy, err)
	// Output: full base=1s attempts=4 <nil>
}

func ExampleNewPlan() {
	policy := retry.Policy{Backoff: retry.FullJitter{Base: time.Second, Cap: 20 * time.Second}, MaxAttempts: 4, MaxElapsed: 5 * time.Second}
	plan := retryconfig.NewPlan(policy)
	fmt.Println(plan)
	fmt.Println("fits into 4s:", plan.Total.P99 < 4*time.Second)
	// Output:
	//   retry       min      mean       p99       max   of calls
	//       1        0s     500ms     990ms        1s      100 %
	//       2        0s        1s     1.98s        2s      100 %
	//       3        0s     1.75s     3.88s        4s     85.4 %
	//   total        0s     2.99s     4.95s        5s
	// fits into 4s: false
}
