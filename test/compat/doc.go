// Package compat tests package retry with the real libraries whose errors it recognizes
// without importing them. Its module also has the other tests that need many libraries:
// recipes, decoders of configuration, and engines of durable jobs.
package compat
