// Package locks contains the locks that docs/libraries.md explains. Its tests run them with real
// servers.
package locks
