package main

import (
	"os"
	"syscall"
	"unsafe"
)

// stop stops retry, or its whole shell job if job is set, until SIGCONT arrives. It has no
// effect in an orphaned process group, which no shell could continue.
//
// Only the default action of SIGTSTP makes that distinction, and package signal does not
// restore the default action. The kernel's struct sigaction begins with the handler (0:
// default, 1: ignore), except on MIPS, where retry does not stop.
func stop(job bool) {
	var handler [20]uintptr
	set := func(new, old *[20]uintptr) {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGTSTP),
			uintptr(unsafe.Pointer(new)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	}
	set(&[20]uintptr{1}, &handler)
	defer set(&handler, nil)
	if job {
		_ = syscall.Kill(0, syscall.SIGTSTP) // to the other processes of the group
	}
	set(&[20]uintptr{}, nil)
	// The signal goes to this thread, so that the handler is not restored before the
	// stop.
	_ = syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGTSTP)
}
