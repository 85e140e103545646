//go:build !plan9 && !windows

package errfacts

import "syscall"

// isConnectionErrno reports whether err is a bare system error about a
// connection, outside of the *net.OpError that it mostly comes in.
func isConnectionErrno(err error) bool {
	errno, ok := err.(syscall.Errno)
	if !ok {
		return false
	}
	switch errno {
	case syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENOTCONN:
		return true
	}
	return false
}
