// Package lab simulates the effect of retry policies on a server. The simulated clients
// run the policies of package retry themselves, not models of them.
//
// In a [Contention] many clients want to change the same row at the same time: it shows
// the effect of backoff and jitter. In a [Storm] a server fails for a while: it shows
// the effect of budgets and limiters, and whether the server recovers. A
// [Metastability] is a map of storms over policies and utilization: it shows how many
// retries are too many. An [Advice] searches for policies that suit a system.
//
// Each is a struct whose zero fields have sensible values, and has a method Run. The
// first three compare Contenders: policies from text ([ParseContender]) or from code.
// Every part of a policy is honored; a model refuses a policy that it cannot honor. The
// same seed gives the same results on any number of cores. If the context ends, the
// results of the finished trials are kept.
//
// The command backofflab, in this module, draws the results.
package lab
