package retry

// The retry quotas of AWS SDKs whose refunds are not those of a TokenBudget.

// goQuota is the quota of the AWS SDK for Go v2 before 2026, in which a
// success brings its token also beside what a retry gets back.
type goQuota struct{ *TokenBudget }

func (q goQuota) Deposit(last Class, ok bool) {
	q.TokenBudget.Deposit(last, ok)
	if last != ClassUnknown {
		q.TokenBudget.Deposit(ClassUnknown, ok)
	}
}

// growingQuota is the quota of the AWS SDK for JavaScript v3 with
// @smithy/util-retry before 4.3.0, which took the larger of capacity and
// balance where the smaller was meant: a success fills it and makes it grow.
type growingQuota struct{ *TokenBudget }

func (q growingQuota) Deposit(last Class, ok bool) {
	tokens := thousandths(q.gain(last, ok))
	for tokens > 0 {
		spent := q.spent.Load()
		if q.spent.CompareAndSwap(spent, min(0, spent-tokens)) {
			return
		}
	}
}
