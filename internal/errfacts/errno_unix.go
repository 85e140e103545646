//go:build !plan9 && !windows

package errfacts

import (
	"slices"
	"syscall"
)

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

// isLocalErrno reports whether err is a system error about a file or the program itself
// that a retry cannot fix.
func isLocalErrno(err error) bool {
	errno, ok := err.(syscall.Errno)
	return ok && slices.Contains(localErrnos[:], errno)
}

var localErrnos = [...]syscall.Errno{
	syscall.EISDIR, syscall.ENOTDIR, syscall.EROFS, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EXDEV, syscall.ENOEXEC,
}
