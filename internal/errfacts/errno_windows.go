package errfacts

import "syscall"

// isConnectionErrno reports whether err is a bare error of Windows Sockets
// about a connection, outside of the *net.OpError that it mostly comes in. The
// constants that package syscall has under the names of Unix are inventions.
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
