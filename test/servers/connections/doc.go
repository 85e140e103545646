// Package connections contains the sessions that docs/connections.md explains. Its tests run
// them with real servers.
package connections
