// Package retrytest helps to test code that retries, and implementations of
// retry.Backoff, without real waits.
//
// A [Clock] passes time without waiting and records the waits; an [Op] fails
// according to a script; [Fixed], [Replay] and [Seeded] make jitter deterministic;
// and [TestBackoff] checks your own Backoff.
//
//	clock := &retrytest.Clock{}
//	op := retrytest.Fail(2, errors.New("try later"))
//	policy := retry.Policy{Clock: clock, Rand: retrytest.Fixed(0.5)}
//	err := retry.Do(ctx, policy, op.Run)
//	// err == nil, op.Calls() == 3, clock.Waits() == [25ms 50ms]
//
// In a testing/synctest bubble no Clock is needed: time advances only while all
// goroutines are waiting. That also covers the deadlines of contexts and
// AttemptTimeout, which a Clock does not.
package retrytest
