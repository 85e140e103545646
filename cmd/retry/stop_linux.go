package main

import (
	"os"
	"syscall"
	"unsafe"
)

// stop stops retry, or the shell job that it is part of, until SIGCONT. In an
// orphaned process group, which no shell could continue, it has no effect.
//
// Only the default action of SIGTSTP knows that, and package signal does not
// restore it. The kernel's struct sigaction begins with the handler, except on
// MIPS, where retry does not stop: 0 is the default action, 1 ignores the signal.
func stop(job bool) {
	var handler [20]uintptr
	set := func(new, old *[20]uintptr) {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGTSTP),
			uintptr(unsafe.Pointer(new)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	}
	set(&[20]uintptr{1}, &handler)
	defer set(&handler, nil)
	if job {
		_ = syscall.Kill(0, syscall.SIGTSTP) // to the others
	}
	set(&[20]uintptr{}, nil)
	// To this thread, so that the handler is not back before the stop.
	_ = syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGTSTP)
}
