package main

import "golang.org/x/sys/unix"

// A readWatch notices that a process reads from a pipe.
type readWatch struct{ fd int }

// watchReads returns nil if the kernel does not report reads from standard input.
func watchReads() *readWatch {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	if _, err := unix.InotifyAddWatch(fd, "/proc/self/fd/0", unix.IN_ACCESS); err != nil {
		unix.Close(fd)
		return nil
	}
	return &readWatch{fd}
}

// read reports whether there was a read since the last call.
func (w *readWatch) read() bool {
	if w == nil {
		return false
	}
	var event [unix.SizeofInotifyEvent]byte
	n, _ := unix.Read(w.fd, event[:])
	return n > 0
}
