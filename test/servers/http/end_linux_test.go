package http_test

import (
	"os/exec"
	"syscall"
)

// endWithTest ends a command when the process of the test ends, also if that is killed.
func endWithTest(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
