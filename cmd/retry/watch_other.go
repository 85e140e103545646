//go:build !linux

package main

// Type pipeWatch is empty: only Linux reports what happens to a pipe.
type pipeWatch struct{}

func watchReads() *pipeWatch { return nil }

func watchWrites() *pipeWatch { return nil }

func (*pipeWatch) happened() bool { return false }

func readByCommand() bool { return false } // unknown
