// Package ratelimit keeps calls under the limits of a server, so that processes that share a
// limit spend it on work instead of refused requests.
//
// A retryhttp.Transport makes a [Limiter] for each host and credential by itself, once a response
// refuses a request because of a limit, or tells a limit. Elsewhere, set the Limiter of the policy:
//
//	policy := retry.Policy{Limiter: &ratelimit.Limiter{}}
//
// # The rule
//
// While more than a quarter of a server's limit is left, calls begin at once. When less is
// left, each process begins calls more slowly, so that its share of what is left lasts until
// the reset. The share of a process is its part of what all processes have used, which it
// learns from the headers of its responses. A header that proves to be wrong is ignored until
// a refusal agrees with it.
//
// A call never waits for longer than its deadline, Policy.MaxElapsed and MaxWait (a minute by
// default) allow. If nothing is left until after that, as a refusal has confirmed, the call ends
// with a [*UsedUpError] and without a request. One call in ten seconds begins nevertheless, and
// finds out whether that still holds.
//
// # Refusals that no header explains
//
// The Limiter learns a rate from what succeeds between refusals. While nothing succeeds, calls
// begin more and more rarely, at last one in ten seconds. A minute without a refusal ends that.
// After three refusals in a row that say to come back in more than ten seconds, nothing begins
// until the earliest of these times, except one call after ten seconds. If that one is told a later
// time, each request makes the wait longer, so nothing begins until then.
//
// # Retries
//
// While the Limiter knows a limit that is short, the retries after throttling take nothing from
// the Budget of the policy, because the Limiter bounds them.
//
// # What it hears
//
// Package retryhttp passes each response to the Limiter, which learns what [Read] finds in the
// headers. Elsewhere, such as in [retry.Do], in gRPC and in AWS clients, it learns only which
// attempts were throttled, and their hints.
//
// # A limit that you know
//
// If the server does not tell its limit, set [Limiter.Limit], and a [Store] such as [Redis] to
// share it with other processes.
//
// # Scope
//
// Share a Limiter among the calls that one key makes to one server. Limits are told apart by their
// name, size and window. If the calls take several routes of which each may have a limit of its
// own, name the route with [WithRoute], as retryhttp does: a call then waits only for the limits
// of which its own route was told. Processes need not know of each other, because the headers tell
// each process what all of them have used.
package ratelimit
