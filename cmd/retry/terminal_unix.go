//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the controlling terminal; nil means none.
//
// Only the foreground process group may read from a terminal, and each command has its
// own group. If retry is in the foreground and all standard files are terminals, a
// command gets the foreground at once. Otherwise another program in the shell job may need
// the terminal ("retry … | less"), so a command gets the foreground only when the kernel
// stops the command for reading from the terminal.
type terminal struct {
	fd    int
	own   int  // process group of retry
	alone bool // all standard files are terminals
	given bool // the command is in the foreground
	modes *term.State
}

func openTerminal() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	t := &terminal{fd: fd, own: unix.Getpgrp(), alone: term.IsTerminal(0) && term.IsTerminal(1) && term.IsTerminal(2)}
	if t.foreground() {
		t.modes, _ = term.GetState(fd)
	}
	return t
}

func (t *terminal) foreground() bool {
	if t == nil {
		return false
	}
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && group == t.own
}

// passOn makes a command start in the foreground if retry is in the foreground and all
// standard files are terminals.
func (t *terminal) passOn(attr *syscall.SysProcAttr) {
	if t != nil && t.alone && t.foreground() {
		attr.Foreground, attr.Ctty, t.given = true, t.fd, true
	}
}

// give puts the command's group in the foreground if retry is in the foreground, and
// reports whether the command is in the foreground.
func (t *terminal) give(group int) bool {
	if t.foreground() {
		t.given = t.set(group)
	}
	return t != nil && t.given
}

func (t *terminal) takeBack() {
	if t != nil && t.given {
		t.given = false
		t.set(t.own)
	}
}

// set makes a group the foreground group. It ignores SIGTTOU, which would stop retry if
// retry is in the background.
func (t *terminal) set(group int) bool {
	signal.Ignore(syscall.SIGTTOU)
	// Package signal cannot restore the default action here, but commands start with the
	// default action for every signal that has a handler.
	defer signal.Notify(make(chan os.Signal, 1), syscall.SIGTTOU)
	return unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) == nil
}

// restore undoes a failed command's changes to the terminal, such as disabled echo.
func (t *terminal) restore() {
	if t != nil && t.modes != nil && t.foreground() {
		_ = term.Restore(t.fd, t.modes)
	}
}
