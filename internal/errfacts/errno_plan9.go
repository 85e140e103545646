package errfacts

// isConnectionErrno reports false: Plan 9 has no error numbers.
func isConnectionErrno(error) bool { return false }

// isLocalErrno reports false: Plan 9 has no error numbers.
func isLocalErrno(error) bool { return false }
