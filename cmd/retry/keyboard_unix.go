//go:build unix

package main

import (
	"io"
	"os"
	"syscall"
	"time"
)

// keyboardName is the program name of the keyboard child.
const keyboardName = "retry-keyboard"

// keyboard is a child of retry in the command's process group. While the command has the
// terminal, Ctrl-C reaches only that group. If the command handles the signal and exits
// with a status, only the death of this child shows that Ctrl-C was pressed.
type keyboard struct {
	pid     int      // 0: none
	pipe    *os.File // the child exits when this is closed or retry ends
	pressed bool     // Ctrl-C has ended the child
	last    time.Time
}

// If less than this time passes between two presses of Ctrl-C, retry kills the command. A
// command that has the terminal may handle a single Ctrl-C itself.
const twice = 2 * time.Second

func beKeyboard() {
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// open ignores errors: without the child, retry still notices a Ctrl-C that the command
// does not handle.
func (k *keyboard) open(group int) {
	if k.pid != 0 {
		return
	}
	file, err := os.Executable()
	if err != nil {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	fd := r.Fd()
	pid, err := syscall.ForkExec(file, []string{keyboardName}, &syscall.ProcAttr{
		Env:   []string{"GOMAXPROCS=1"},
		Files: []uintptr{fd, fd, fd},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pgid: group},
	})
	if err != nil {
		w.Close()
		return
	}
	k.pid, k.pipe = pid, w
}

func (k *keyboard) note(status syscall.WaitStatus) {
	if status.Exited() || status.Signaled() {
		k.pid = 0
		k.pipe.Close()
		k.pressed = status.Signaled() && status.Signal() == syscall.SIGINT
	}
}

func (k *keyboard) close() {
	if k.pid != 0 {
		k.pipe.Close()
	}
}

func (v *supervisor) watchKeyboard() {
	k := &v.p.keyboard
	switch {
	case v.p.exited:
		k.close()
	case k.pressed && v.phase == running:
		k.pressed = false
		if time.Since(k.last) < twice {
			v.ended = syscall.SIGINT
			v.kill()
			return
		}
		k.last = time.Now()
		fallthrough
	case v.terminal != nil && v.terminal.given && v.phase == running:
		k.open(v.p.pid)
	}
}

// interrupted reports whether Ctrl-C was pressed just before the command ended.
func (v *supervisor) interrupted() bool {
	k := &v.p.keyboard
	return k.pressed || !k.last.IsZero() && time.Since(k.last) < v.grace
}
