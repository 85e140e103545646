// Package lab simulates what retry policies do to a server, before they meet one
// in production.
package lab
