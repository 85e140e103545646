//go:build unix && !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// stop stops retry, or its whole shell job if job is set, until SIGCONT arrives. It has no
// effect unless the parent is a shell that could continue retry.
func stop(job bool) {
	parent := os.Getppid()
	own, _ := unix.Getsid(0)
	session, err := unix.Getsid(parent)
	group, _ := unix.Getpgid(parent)
	if err != nil || session != own || group == unix.Getpgrp() {
		return
	}
	pid := os.Getpid()
	if job {
		pid = 0
	}
	_ = unix.Kill(pid, unix.SIGSTOP)
}
