package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A pipeWatch notices that a process reads from, or writes to, a pipe.
type pipeWatch struct{ fd int }

// watchReads returns nil if the kernel does not report reads from standard input.
func watchReads() *pipeWatch { return watchPipe(0, unix.IN_ACCESS) }

// watchWrites returns nil if the kernel does not report writes to standard output.
func watchWrites() *pipeWatch { return watchPipe(1, unix.IN_MODIFY) }

func watchPipe(file int, event uint32) *pipeWatch {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	_, err = unix.InotifyAddWatch(fd, fmt.Sprintf("/proc/self/fd/%d", file), event)
	if err != nil {
		unix.Close(fd)
		return nil
	}
	return &pipeWatch{fd}
}

// happened reports whether the event has happened since the last call.
func (w *pipeWatch) happened() bool {
	if w == nil {
		return false
	}
	var event [unix.SizeofInotifyEvent]byte
	n, _ := unix.Read(w.fd, event[:])
	return n > 0
}
