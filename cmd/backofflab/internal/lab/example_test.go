package lab_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
)

func ExampleContention() {
	experiment := lab.Contention{Clients: []int{100}}
	for _, text := range []string{"exponential base=10ms cap=2s attempts=unlimited", "full base=10ms cap=2s attempts=unlimited"} {
		c, err := lab.ParseContender(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		experiment.Contenders = append(experiment.Contenders, c)
	}
	cells, err := experiment.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cell := range cells {
		fmt.Printf("%-47s %4.0f calls, %2.0f s\n", cell.Contender, cell.Calls.Mean, cell.Time.Mean)
	}
	// Output:
	// exponential base=10ms cap=2s attempts=unlimited 1850 calls, 63 s
	// full base=10ms cap=2s attempts=unlimited         796 calls,  5 s
}

// A custom policy, with and without a budget, while the server stalls for two seconds.
func ExampleStorm() {
	policy := retry.Policy{Backoff: retry.FullJitter{Base: 100 * time.Millisecond}, MaxAttempts: 4}
	storm := lab.Storm{
		Contenders: []lab.Contender{
			{Name: "without a budget", Policy: func(retry.Clock) retry.Policy { return policy }},
			{Name: "with a budget", Policy: func(retry.Clock) retry.Policy {
				p := policy
				p.Budget = &lab.ThrottleBudget{} // one for each process
				return p
			}},
		},
		Trials: 1,
	}
	rows, err := storm.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows {
		if row.Never > 0 {
			fmt.Println(row.Contender + ": never recovers")
		} else {
			fmt.Printf("%s: recovers after %.0f s\n", row.Contender, row.Recovery.Mean)
		}
	}
	// Output:
	// without a budget: never recovers
	// with a budget: recovers after 11 s
}
