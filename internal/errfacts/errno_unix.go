//go:build !plan9 && !windows

package errfacts

import "syscall"

// isConnectionErrno reports whether err is a bare system error about a
// connection, without the usual *net.OpError around it.
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
