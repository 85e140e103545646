//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// readWaiting reads what is already in a pipe, even after the read deadline. It returns
// n <= 0 if the pipe is empty.
func readWaiting(r *os.File, buf []byte) (n int) {
	if raw, err := r.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buf) })
	}
	return n
}

// unread reports whether f is a pipe that all readers have closed.
func unread(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(fileNumber(f)), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLERR != 0
}
