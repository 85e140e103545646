// Package lab simulates the effect of retry policies on a server. The simulated clients
// run the policies of package retry themselves. In a [Contention], many clients change
// the same row; in a [Storm], a server fails for a while; a [Metastability] is a map of
// storms. An [Advice] searches for policies that suit a system. Each is a struct with a
// method Run, and its zero fields have sensible values. The command backofflab draws
// the results.
package lab
