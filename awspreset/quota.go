package awspreset

import "github.com/gobackoff/retry"

// goV2Quota is the quota of the AWS SDK for Go v2 until v1.47: a success after retries
// returns one token more than the last retry took.
type goV2Quota struct{ *TokenBudget }

func (q goV2Quota) Deposit(paid retry.Attempt, err error) {
	q.TokenBudget.Deposit(paid, err)
	if paid.Number != 0 {
		q.TokenBudget.Deposit(retry.Attempt{}, err)
	}
}
