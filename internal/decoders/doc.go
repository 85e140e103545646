// Package decoders tests how a retry.Policy comes out of the configuration libraries
// that Go programs use.
package decoders
