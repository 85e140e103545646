//go:build unix

package main

import (
	"syscall"
	"time"
)

type job struct {
	front    bool             // the command was stopped in the foreground
	stopping bool             // retry has passed SIGTSTP on
	resume   <-chan time.Time // when to continue the command if retry could not be stopped
}

// orphaned is the time after which retry continues the command if SIGTSTP has not stopped
// retry. In an orphaned process group, SIGTSTP has no effect, and no shell would continue
// the command.
const orphaned = 100 * time.Millisecond

func (v *supervisor) forward(sig syscall.Signal) {
	switch sig {
	case syscall.SIGTSTP:
		v.job.stopping = true
		v.p.signalGroup(sig)
		v.suspend(false)
	case syscall.SIGCONT:
		v.resume()
	case syscall.SIGWINCH:
		v.p.signalGroup(sig)
	default:
		v.p.signalLeader(sig)
	}
}

// onIdleSignal handles a signal that arrives while no command runs and does not end
// retry.
func (s *session) onIdleSignal(sig syscall.Signal) {
	if sig == syscall.SIGTSTP {
		s.report.stopping()
		stop(false)
	}
}

// onStop handles a stopped command. Without a terminal, the command stays stopped until it
// receives SIGCONT or a time limit ends it.
func (v *supervisor) onStop() {
	sig := v.p.stopped
	v.p.stopped = 0
	if v.terminal == nil || v.phase != running || v.job.stopping {
		return
	}
	switch sig {
	case syscall.SIGTTIN, syscall.SIGTTOU: // the command needs the terminal
		if v.terminal.give(v.p.pid) {
			v.p.signalGroup(syscall.SIGCONT)
			return
		}
		v.job.front = true
		stop(true)
	default:
		if v.terminal.given || v.terminal.foreground() {
			v.suspend(true)
		}
	}
}

func (v *supervisor) suspend(job bool) {
	v.job.front = v.terminal != nil && v.terminal.given
	v.terminal.takeBack()
	stop(job)
	v.job.resume = time.After(orphaned)
}

// resume continues a stopped command, in the foreground if it was stopped there.
func (v *supervisor) resume() {
	if v.job.front {
		v.terminal.give(v.p.pid)
	}
	v.job = job{}
	v.p.signalGroup(syscall.SIGCONT)
}
