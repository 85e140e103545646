// Package pause lets calls share what a server asks for: when a server refuses calls and
// says when to come back, as with Retry-After, no call begins until then, not even a first
// attempt, and the calls that waited return little by little.
//
//	limiter := &pause.Limiter{} // one for all calls under the same limit
//	policy := retry.Policy{Limiter: limiter}
//
// Without a pause, each call learns of the limit by a refused request of its own.
//
// # The rule
//
// A pause begins after 20 failures with a hint in a row, over at least 100 ms. A success
// ends the row, and so does a permanent failure without a hint, such as a 404. A failure
// that has no hint counts ten against the row, down to -1000: calls that time out mean that
// the server refuses too late, and hints are not to be trusted then. A call that its caller
// canceled does not count.
//
// The pause ends when the earliest of the hints does. Every second, one call begins
// nevertheless, and every 200 ms in the last second, because servers round hints up; its
// success ends the pause. Then the calls leave in the order of their
// arrival: ten in the first 100 ms, and twice as many in each 100 ms after. If a failure
// with a hint follows before the first success, the next pause begins at once.
//
// A call whose deadline comes before its turn begins at once, as it would without a Limiter.
// If the next pause begins while it waits, it begins when a quarter of its time is left.
// Waiting is not an attempt. It ends with Policy.MaxElapsed and with the context. Without
// these, only Limiter.MaxHint bounds each pause. At most 10,000 calls wait; more begin at once,
// or fail if Strict is set.
//
// # Scope
//
// Share a Limiter among the calls that share a limit, such as those to one route with one
// key, and no others: calls outside the limit would wait, too. Package retryhttp keeps a
// Limiter for each route or host in its PerScope. Processes do not tell each other of a
// pause.
package pause
