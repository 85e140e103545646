//go:build unix

package linear

import (
	"syscall"
	"time"
)

const resolution = time.Millisecond

// used returns how long the process has used processors.
func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
