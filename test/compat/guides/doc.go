// Package guides contains the code of docs/migrating.md: settings of other libraries beside
// those of this one. Its tests run each pair and compare when the attempts are made.
package guides
