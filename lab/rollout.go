package lab

// Fleets that change from one policy to another.

import (
	"fmt"
	"math"

	"github.com/gobackoff/retry"
)

// Rollout returns a fleet for a [Storm] in which a share of the processes, from 0 to 1,
// already has the new policy. Its [StormRow] contains Parts for both policies.
func Rollout(old, new Contender, share float64) (Contender, error) {
	switch {
	case !(share >= 0 && share <= 1):
		return Contender{}, fmt.Errorf("rollout: a share of %v is not in 0 to 1", share)
	case old.Policy == nil || new.Policy == nil || old.next != nil || new.next != nil:
		return Contender{}, fmt.Errorf("rollout: from %q to %q: want two policies", old.Name, new.Name)
	case old.Slots > 0 || new.Slots > 0:
		return Contender{}, fmt.Errorf("rollout: from %q to %q: server hints are for Contention only", old.Name, new.Name)
	}
	return Contender{
		Name:   fmt.Sprintf("%v %% %s, others %s", math.Round(share*1000)/10, new.Name, old.Name),
		Policy: old.Policy, next: new.Policy, share: share,
	}, nil
}

// part returns the part of the fleet to which the i-th of n processes belongs, and its
// policy. Part 0 has the old policy, and part 1 the new one.
func (c Contender) part(i, n int) (int, func(clock retry.Clock) retry.Policy) {
	if c.next != nil && i >= n-int(math.Round(c.share*float64(n))) {
		return 1, c.next
	}
	return 0, c.Policy
}

// StormPart contains the results of the processes with one policy of a [Rollout].
type StormPart struct {
	Calls    Summary // per trial
	Success  Summary // share of these calls that succeeded
	Attempts Summary // per call
}

type partOutcome struct{ calls, success, attempts float64 }

func (c Contender) parts(trials []StormTrial) []StormPart {
	if c.next == nil {
		return nil
	}
	parts := make([]StormPart, 2)
	for i := range parts {
		var calls, success, attempts []float64
		for _, t := range trials {
			calls = append(calls, t.parts[i].calls)
			success = append(success, t.parts[i].success)
			attempts = append(attempts, t.parts[i].attempts)
		}
		parts[i] = StormPart{summarize(calls), summarize(success), summarize(attempts)}
	}
	return parts
}
