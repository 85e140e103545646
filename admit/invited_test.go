package admit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func TestInvited(t *testing.T) {
	invitation := retry.Verdict{Class: retry.ClassThrottled, Hint: time.Second}
	for _, test := range []struct {
		name    string
		verdict retry.Verdict
		cost    float64
	}{
		{"invited", invitation, 0},
		{"throttled without a hint", retry.Verdict{Class: retry.ClassThrottled}, 5},
		{"hint of another failure", retry.Verdict{Class: retry.ClassTransient, Hint: time.Second}, 14},
		{"timeout", retry.Verdict{Class: retry.ClassTimeout}, 14},
	} {
		t.Run(test.name, func(t *testing.T) {
			tokens := &retry.TokenBudget{}
			failed := retry.Attempt{Number: 1, Verdict: test.verdict}
			assert.True(t, Invited{tokens}.TryWithdraw(failed))
			assert.Equal(t, 500-test.cost, tokens.Balance())
			tokens.TryWithdraw(retry.Attempt{}) // 14
			Invited{tokens}.Deposit(failed, true)
			assert.Equal(t, 500-14-test.cost+max(1, test.cost), tokens.Balance())
		})
	}
	unbounded := Invited{}
	assert.True(t, unbounded.TryWithdraw(retry.Attempt{}))
	unbounded.Deposit(retry.Attempt{}, false)
	empty := &retry.TokenBudget{Deficit: 500}
	assert.True(t, Invited{empty}.TryWithdraw(retry.Attempt{Verdict: invitation}))
	assert.False(t, Invited{empty}.TryWithdraw(retry.Attempt{}))
}

func TestInvitedValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		budget retry.Budget
		valid  bool
	}{
		{"none", nil, true},
		{"valid", &retry.TokenBudget{}, true},
		{"invalid", &retry.TokenBudget{Capacity: -1}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := retry.Policy{Budget: Invited{test.budget}}.Validate()
			assert.Equal(t, test.valid, err == nil, err)
			if !test.valid {
				assert.ErrorContains(t, err, "Capacity")
			}
		})
	}
}

// TestInvitedClients: the default budget of one busy client process is too small for a
// stall, and suffices if invited retries are free.
func TestInvitedClients(t *testing.T) {
	least := run(t, busy(stall(2*time.Second)), new(Gate), new(retryhttp.PerHost)).Percent("")
	assert.Less(t, least, 97.0)
	free := &retryhttp.PerHost{New: func(string) retry.Budget { return Invited{new(retry.TokenBudget)} }}
	assert.GreaterOrEqual(t, run(t, busy(stall(2*time.Second)), new(Gate), free).Percent(""), 98.0)
}
