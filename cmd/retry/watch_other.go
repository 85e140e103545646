//go:build !linux

package main

// Type readWatch is empty: only Linux reports reads from a pipe.
type readWatch struct{}

func watchReads() *readWatch { return nil }

func (*readWatch) read() bool { return false }
