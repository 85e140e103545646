package linear

import (
	"syscall"
	"time"
)

const resolution = 16 * time.Millisecond // a tick of the scheduler

// used returns how long the process has used processors.
func used() time.Duration {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		panic(err)
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		panic(err)
	}
	return hundreds(kernel) + hundreds(user)
}

// hundreds returns a duration that is counted in hundreds of nanoseconds.
func hundreds(d syscall.Filetime) time.Duration {
	return time.Duration(int64(d.HighDateTime)<<32|int64(d.LowDateTime)) * 100
}
