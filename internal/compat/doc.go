// Package compat tests retry against the real libraries that it understands
// without importing them.
package compat
