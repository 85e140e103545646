// Package api has errors of a program's own, one with the name of Vault's.
package api

// ResponseError is not Vault's.
type ResponseError struct{ StatusCode int }

func (e *ResponseError) Error() string { return "precondition" }

// OtherError has the same field.
type OtherError struct{ StatusCode int }

func (e *OtherError) Error() string { return "precondition" }
