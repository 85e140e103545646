package admit

import "github.com/gobackoff/retry"

// Invited is a [retry.Budget] for clients of a server with a [Gate]: a retry that the
// server invited, by throttling with a hint, costs nothing, and the rest is left to Budget.
// Do not use it for a server that sends hints but refuses too late: there, free retries
// prolong overload.
type Invited struct {
	retry.Budget // nil: no bound on other retries
}

// TryWithdraw implements [retry.Budget].
func (b Invited) TryWithdraw(failed retry.Attempt) bool {
	return invited(failed) || b.Budget == nil || b.Budget.TryWithdraw(failed)
}

// Deposit implements [retry.Budget]. After an invited retry, it refunds nothing.
func (b Invited) Deposit(paid retry.Attempt, err error) {
	if invited(paid) {
		paid = retry.Attempt{}
	}
	if b.Budget != nil {
		b.Budget.Deposit(paid, err)
	}
}

// Validate reports an invalid Budget.
func (b Invited) Validate() error { return retry.Policy{Budget: b.Budget}.Validate() }

func invited(a retry.Attempt) bool { return a.Class == retry.ClassThrottled && a.Hint > 0 }
