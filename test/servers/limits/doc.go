// Package limits tests package ratelimit with processes that share a limit through a real Redis
// or Valkey.
package limits
