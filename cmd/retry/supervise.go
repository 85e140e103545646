package main

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

type phase uint8

const (
	running phase = iota
	ending        // remaining processes were signaled
	killing       // they are being killed
	stuck         // they do not disappear
)

const (
	// sweep is the interval at which an ending tree is checked. SIGCHLD does not
	// suffice, because only the end of a child raises it.
	sweep = 10 * time.Millisecond
	// lastWait is how long killed processes may take to disappear. A slower process is
	// stuck in the kernel, or belongs to another user. After the deadline, they may take
	// lastMoment.
	lastWait   = 5 * time.Second
	lastMoment = time.Second
)

// A supervisor waits until one command has ended and, unless the command succeeds, until
// all processes that it started have ended.
type supervisor struct {
	*session
	p       *process
	outcome *outcome
	judge   func(*outcome) // sets met
	judged  bool
	phase   phase
	until   <-chan time.Time // end of the phase
	sweeps  *time.Ticker     // not used in phase running
	job     job
}

// supervise runs a command until it has succeeded, or has failed and none of its
// processes is left. When ctx ends, supervise ends the command. It calls the function
// started as soon as the command has inherited its files or has failed to start, and the
// function judge when the command has ended, to set o.met.
func (s *session) supervise(ctx context.Context, c command, started func(), judge func(*outcome), o *outcome) {
	p, err := s.processes.start(c, s.terminal)
	started()
	if err != nil {
		o.failure = notStarted(c.args[0], err)
		o.exit, o.temporary = startFailure(err)
		return
	}
	s.tree = p
	defer func() { s.tree = nil }()
	v := &supervisor{session: s, p: p, outcome: o, judge: judge, sweeps: time.NewTicker(time.Hour)}
	defer v.sweeps.Stop()
	for !v.over() {
		v.handleEvent(ctx)
	}
	v.succeeded()
	o.interrupted = v.interrupted()
	s.terminal.takeBack()
	if !o.succeeded() {
		s.terminal.restore()
		if p.strays() {
			s.report.warn("cannot end processes that have left the command's process group: /proc does not show them")
		}
	}
}

// notStarted adds advice to the error of a command that could not be started.
func notStarted(name string, err error) error {
	if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := strings.ReplaceAll(err.Error(), name, withoutSecrets(name))
	return &publicError{text + advice(name), err}
}

// A publicError is an error with another text.
type publicError struct {
	text string
	err  error
}

func (e *publicError) Error() string { return e.text }
func (e *publicError) Unwrap() error { return e.err }

// over updates the command's state and reports whether there is nothing left to wait for.
func (v *supervisor) over() bool {
	v.p.update()
	v.watchKeyboard()
	switch {
	case v.phase == running && v.succeeded():
		v.p.release()
		return true
	case v.p.gone() || v.phase == stuck:
		return true
	case v.phase == running && v.p.exited:
		v.end(syscall.SIGTERM)
	case v.p.stopped != 0:
		v.onStop()
	}
	return false
}

// succeeded reports whether the command has ended and has succeeded.
func (v *supervisor) succeeded() bool {
	if v.p.exited && !v.judged {
		v.judged = true
		v.outcome.exit, v.outcome.signal = v.p.result()
		v.judge(v.outcome)
	}
	return v.p.exited && v.outcome.succeeded()
}

func (v *supervisor) handleEvent(ctx context.Context) {
	done := ctx.Done()
	if v.phase != running {
		done = nil
	}
	select {
	case <-v.processes.changed:
	case sig := <-v.signals:
		v.onSignal(sig.(syscall.Signal))
	case <-v.job.resume:
		v.resume()
	case <-done:
		v.outcome.limit = v.limit()
		v.end(syscall.SIGTERM)
	case <-v.sweeps.C:
		if v.phase == killing {
			v.p.kill() // processes started meanwhile
		}
	case <-v.until:
		if v.phase == ending {
			v.kill()
		} else {
			v.phase, v.outcome.survivors = stuck, v.p.survivors()
		}
	}
}

func (v *supervisor) end(sig syscall.Signal) {
	reached := v.p.end(sig)
	if v.phase == running && !reached { // none of them will end because of it
		v.kill()
		return
	}
	if v.phase == running {
		v.phase, v.until = ending, time.After(v.grace)
		v.sweeps.Reset(sweep)
	}
}

func (v *supervisor) kill() {
	v.p.kill()
	if v.phase != killing {
		v.phase, v.until = killing, time.After(v.patience())
		v.sweeps.Reset(sweep)
	}
}

// patience is the time for killed processes to disappear.
func (v *supervisor) patience() time.Duration {
	deadline, ok := v.ctx.Deadline()
	if !ok {
		return lastWait
	}
	return min(lastWait, max(lastMoment, time.Until(deadline)))
}

func (v *supervisor) onSignal(sig syscall.Signal) {
	switch {
	case !isEnding(sig):
		v.forward(sig)
	case v.ended == 0:
		v.p.update()
		v.ended, v.alone = sig, v.p.exited
		v.report.ending(sig, v.grace)
		v.end(sig)
	case sig == syscall.SIGINT || sig == syscall.SIGQUIT: // pressed a second time
		v.kill()
	default:
		v.end(sig)
	}
}

func isEnding(sig syscall.Signal) bool {
	for _, s := range endingSignals {
		if s == sig {
			return true
		}
	}
	return false
}
