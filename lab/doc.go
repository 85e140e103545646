// Package lab simulates what retry policies do to a server before they meet one
// in production. The policies are those of package retry, and not models of them.
//
// A [Contention] is clients that all want to change the same row at the same time:
// it shows what backoff and jitter are worth. A [Storm] is a server that fails for
// a while, and its clients: it shows what budgets and limiters are worth, and
// whether the server recovers. A [Metastability] is the storm over policies and
// utilization: it shows how many retries are too many. An [Advice] searches for
// policies that suit a system.
//
// Each is a struct whose zero fields have sensible values, and has a method Run. The
// first three compare Contenders: policies from text ([ParseContender]) or from code,
// of which every part is honored. What a model cannot honor it refuses. The same seed
// gives the same results on any number of cores. A context that ends leaves the results
// of the trials that have finished.
//
// The command backofflab, in this module, draws the results.
package lab
