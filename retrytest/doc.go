// Package retrytest helps to test code that retries, and rules for retrying,
// without waiting.
//
// A [Clock] passes time without waiting and remembers what it was asked to
// wait for; an [Op] fails by a script; [Fixed], [Replay] and [Seeded] take the
// chance out of jitter; and [TestBackoff] checks a Backoff of your own.
//
//	clock := &retrytest.Clock{}
//	op := retrytest.Fail(2, errors.New("try later"))
//	policy := retry.Policy{Clock: clock, Rand: retrytest.Fixed(0.5)}
//	err := retry.Do(ctx, policy, op.Run)
//	// err == nil, op.Calls() == 3, clock.Waits() == [25ms 50ms]
//
// A testing/synctest bubble does without a Clock: time stands still there
// until everybody waits. It also covers the deadlines of contexts and
// AttemptTimeout, which a Clock does not.
package retrytest
