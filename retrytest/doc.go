// Package retrytest provides helpers for testing code that retries, and implementations
// of retry.Backoff, without real waits.
//
//   - A [Clock] advances time without waiting and records the waits.
//   - An [Op] fails according to a script.
//   - [Twice] shows whether an operation may be repeated.
//   - [Fixed], [Replay] and [Seeded] make jitter deterministic.
//   - [TestBackoff] checks a Backoff.
//
// This call retries twice, without waiting:
//
//	clock := &retrytest.Clock{}
//	op := retrytest.Fail(2, errors.New("try later"))
//	policy := retry.Policy{Clock: clock, Rand: retrytest.Fixed(0.5)}
//	err := retry.Do(ctx, policy, op.Run)
//	// err == nil, op.Calls() == 3, clock.Waits() == [25ms 50ms]
//
// A testing/synctest bubble, where time advances only while all goroutines wait, needs no
// Clock. Unlike a Clock, the bubble also covers AttemptTimeout and the deadlines of
// contexts.
package retrytest
