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
// learns from the headers of its responses. If calls show that a header is wrong, it is ignored
// until a refusal agrees with it.
//
// A call never waits for longer than its deadline, Policy.MaxElapsed and MaxWait (a minute by
// default) allow. A refusal may have said that nothing is left until after that time. The call
// then ends with a [*UsedUpError] and without a request. One call in ten seconds is sent
// nevertheless, to find out whether something is left again.
//
// # Refusals that no header explains
//
// The Limiter learns a rate from what succeeds between refusals. While nothing succeeds, calls
// begin more and more rarely, at last one in ten seconds. A minute without a refusal ends that.
//
// If three refusals in a row say to come back in more than five seconds, no call begins until the
// earliest of these times, except one after ten seconds. If the response to that one names a later
// time, each request makes the wait longer. Then no call begins until the later time.
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
