package faults

import "syscall"

var (
	errRefused = syscall.NewError("connection refused")
	errReset   = syscall.NewError("connection reset")
)
