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
// restore it. The kernel's struct sigaction is opaque here; zero is the default.
func stop(job bool) {
	var standard, handler [20]uint64
	action := func(new, old *[20]uint64) {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGTSTP),
			uintptr(unsafe.Pointer(new)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	}
	action(&standard, &handler)
	defer action(&handler, &standard)
	if job {
		_ = syscall.Kill(0, syscall.SIGTSTP)
	}
	// To this thread, so that the handler is not back before the stop.
	_ = syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGTSTP)
}
