package errfacts

import "syscall"

// isConnectionErrno reports whether err is a bare Windows Sockets error about a
// connection, without the usual *net.OpError around it. Windows
// itself never returns package syscall's constants with Unix names.
func isConnectionErrno(err error) bool {
	const (
		netDown         syscall.Errno = 10050
		netUnreachable  syscall.Errno = 10051
		notConnected    syscall.Errno = 10057
		refused         syscall.Errno = 10061
		hostUnreachable syscall.Errno = 10065
	)
	errno, ok := err.(syscall.Errno)
	if !ok {
		return false
	}
	switch errno {
	case syscall.WSAECONNRESET, syscall.WSAECONNABORTED, refused, notConnected,
		netDown, netUnreachable, hostUnreachable, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EPIPE:
		return true
	}
	return false
}

// isLocalErrno reports whether err is a system error about a file or the program itself
// that a retry cannot fix: an invalid name, a directory's name, a write-protected medium, a
// name that is too long.
func isLocalErrno(err error) bool {
	switch err {
	case syscall.Errno(19), syscall.Errno(123), syscall.Errno(206), syscall.Errno(267):
		return true
	}
	return false
}
