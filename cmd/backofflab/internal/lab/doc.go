// Package lab simulates the effect of retry policies on a server. The simulated clients
// run the policies of package retry themselves. In a [Contention], many clients change
// the same row; in a [Storm], a server fails for a while. An [Advice] searches for policies
// that suit a system. Each of these is a struct with a Run method and sensible defaults for
// zero fields. The command backofflab draws the results.
package lab
