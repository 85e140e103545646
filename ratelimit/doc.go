// Package ratelimit keeps calls under the limits of a server, so that processes that share a
// limit spend it on work instead of refused requests.
//
//	transport := &retryhttp.Transport{Policy: retry.Policy{Limiter: &ratelimit.Limiter{}}}
//
// # The rule
//
// While more than a quarter of a server's limit is left, calls begin at once. When less is
// left, each process begins calls more slowly, so that its share of what is left lasts until
// the reset. The share of a process is its part of what all processes have used, which it
// learns from the headers of its responses. A call never waits for longer than its deadline,
// Policy.MaxElapsed and MaxWait (a minute by default) allow. A header that proves to be wrong
// is ignored for ten minutes.
//
// # What it hears
//
// Package retryhttp passes each response to the Limiter, which learns what [Read] finds in the
// headers. Elsewhere, such as in [retry.Do], in gRPC and in AWS clients, it learns only the
// hints of refusals: after three of them in a row, calls wait until the earliest hint is over.
//
// # A limit that you know
//
// If the server does not tell its limit, set [Limiter.Limit], and a [Store] such as [Redis] to
// share it with other processes.
//
// # Scope
//
// Share a Limiter among the calls that share a limit, such as those with one key, and no
// others: other calls would wait, too. retryhttp.PerScope keeps a Limiter for each route or
// host. Processes need not know of each other, because the headers tell each process what all
// of them have used.
package ratelimit
