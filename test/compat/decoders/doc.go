// Package decoders tests that common configuration libraries can read a
// retryconfig.Policy, and that they do not ignore the configuration of a retry.Policy.
package decoders
