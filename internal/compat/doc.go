// Package compat tests package retry with the real libraries whose errors it
// recognizes without importing them.
package compat
