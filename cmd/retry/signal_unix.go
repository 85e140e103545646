//go:build unix

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return sig.String()
}

func isSignalName(name string) bool { return unix.SignalNum(name) != 0 }
