// Package decoders tests that common configuration libraries can read a
// retry.Policy.
package decoders
