// What every policy is compared with.

package report

import (
	"slices"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
)

const noRetry = "none attempts=1"

var zeroPolicy = retry.Policy{}.String()

// Beside returns the user's policies beside those that a page compares them with: no retry
// and the zero policy.
func Beside(own []lab.Contender) ([]lab.Contender, error) { return with(own, noRetry, zeroPolicy) }

// BesideInContention returns the user's policies beside two under which all clients of a
// contention succeed in the end, with and without jitter.
func BesideInContention(own []lab.Contender) ([]lab.Contender, error) {
	return with(own, "full base=10ms cap=2s attempts=unlimited", "exponential base=10ms cap=2s attempts=unlimited")
}

func with(own []lab.Contender, others ...string) ([]lab.Contender, error) {
	list := slices.Clone(own)
	for _, text := range others {
		c, err := lab.ParseContender(text)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(known lab.Contender) bool { return known.Name == c.Name }) {
			list = append(list, c)
		}
	}
	return list, nil
}

// label returns the name of a policy as tables and pictures show it.
func label(name string) string {
	switch name {
	case noRetry:
		return name + " (no retry)"
	case zeroPolicy:
		return name + " (zero policy)"
	}
	return name
}
