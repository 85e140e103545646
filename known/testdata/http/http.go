// Package http has a type with the name of one of net/http.
package http

// Response has no status.
type Response struct{ Body string }
