//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Type processes starts commands, one at a time, and waits for all their processes. All its
// methods must be called from the same goroutine.
type processes struct {
	changed chan os.Signal // a child may have ended, stopped or continued
	current *process
	tree    tree
}

func newProcesses() *processes {
	ps := &processes{changed: make(chan os.Signal, 1)}
	signal.Notify(ps.changed, syscall.SIGCHLD)
	ps.tree.init()
	return ps
}

// A process is a running command with all processes that it started. The command leads its
// own process group.
type process struct {
	ps      *processes
	pid     int            // also the group's ID
	exited  bool           // status is valid
	stopped syscall.Signal // the signal that stopped the leader; 0: the leader runs
	status  syscall.WaitStatus

	keyboard keyboard
}

type command struct {
	args                  []string
	env                   []string
	stdin, stdout, stderr *os.File
}

func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) { // the user's PATH contains the working directory
		err = nil
	}
	return path, err
}

func (ps *processes) start(c command, t *terminal) (*process, error) {
	path, err := find(c.args[0])
	if err != nil {
		return nil, err
	}
	attr := &syscall.ProcAttr{
		Env:   c.env,
		Files: []uintptr{fileNumber(c.stdin), fileNumber(c.stdout), fileNumber(c.stderr)},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	ps.tree.follow(attr.Sys)
	t.passOn(attr.Sys)
	pid := 0
	err = execute(path, c.args, func(path string, args []string) (err error) {
		pid, err = syscall.ForkExec(path, args, attr)
		return err
	})
	if err != nil {
		t.takeBack()
		return nil, &os.PathError{Op: "start", Path: path, Err: err}
	}
	ps.current = &process{ps: ps, pid: pid}
	return ps.current, nil
}

// execute calls exec, and runs a script without #! with the shell, as execvp(3) does.
func execute(path string, args []string, exec func(path string, args []string) error) error {
	err := exec(path, args)
	if err == syscall.ENOEXEC {
		err = exec("/bin/sh", append([]string{"sh", path}, args[1:]...))
	}
	return err
}

// become replaces retry with a command. It returns if it fails.
func (ps *processes) become(args []string) error {
	path, err := find(args[0])
	if err != nil {
		return err
	}
	ps.tree.leave()
	err = execute(path, args, func(path string, args []string) error { return syscall.Exec(path, args, os.Environ()) })
	return &os.PathError{Op: "start", Path: path, Err: err}
}

// fileNumber does not call File.Fd for the standard files: File.Fd would make them
// blocking for all processes that share them.
func fileNumber(f *os.File) uintptr {
	switch f {
	case os.Stdin:
		return 0
	case os.Stdout:
		return 1
	case os.Stderr:
		return 2
	}
	return f.Fd()
}

// reap records the children that have ended, stopped or continued, and reports whether
// none is left.
func (ps *processes) reap() (none bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WUNTRACED|syscall.WCONTINUED, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return true
		case pid == 0:
			return false
		}
		switch p := ps.current; {
		case p == nil:
		case p.pid == pid:
			p.note(status)
		case p.keyboard.pid == pid:
			p.keyboard.note(status)
		}
	}
}

func (p *process) note(status syscall.WaitStatus) {
	switch {
	case status.Stopped():
		p.stopped = status.StopSignal()
	case status.Continued():
		p.stopped = 0
	default:
		p.exited, p.stopped, p.status = true, 0, status
	}
}

func (p *process) result() (exit int, sig syscall.Signal) {
	if p.status.Signaled() {
		return -1, p.status.Signal()
	}
	return p.status.ExitStatus(), 0
}

func (p *process) update() { p.ps.reap() }

// release lets the processes that a successful command has left behind run on.
func (p *process) release() {}

func (p *process) signalLeader(sig syscall.Signal) {
	if !p.exited {
		_ = syscall.Kill(p.pid, sig) // the leader may just have ended
	}
}

// end sends a signal to the whole tree, and continues stopped processes so that they
// receive it. It reports whether any process has received it: those of other users do not.
func (p *process) end(sig syscall.Signal) (reached bool) {
	reached = p.signalTree(sig)
	if sig != syscall.SIGKILL {
		p.signalTree(syscall.SIGCONT)
	}
	return reached
}

func (p *process) kill() (reached bool) { return p.end(syscall.SIGKILL) }

// signalGroup cannot reach another group: a group's ID is not reused while the group has a
// member or its leader has not been reaped. It reports whether a member has received the signal.
func (p *process) signalGroup(sig syscall.Signal) bool { return syscall.Kill(-p.pid, sig) == nil }

func (p *process) groupGone() bool { return syscall.Kill(-p.pid, 0) == syscall.ESRCH }

// startFailure returns the exit status that shells use for a command that could not be
// started, and whether the failure is temporary.
func startFailure(err error) (exit int, temporary bool) {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, syscall.ENOENT):
		return exitNotFound, false
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.ETXTBSY),
		errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return exitNotExecutable, true
	}
	return exitNotExecutable, false
}

// Signals that are passed on to the command; endingSignals also end retry.
var (
	endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	otherSignals  = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP}
)

// notifySignals does not catch signals that are ignored, so commands ignore them too. For
// example, nohup ignores HUP, and shells ignore INT in background jobs.
func notifySignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	for _, list := range [][]os.Signal{endingSignals, otherSignals} {
		for _, sig := range list {
			if !signal.Ignored(sig) {
				signal.Notify(signals, sig)
			}
		}
	}
	// With a handler, writing to a closed pipe fails instead of ending retry.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return signals
}

// dieBy ends retry with a signal, so that a calling shell stops too. It returns if the
// signal cannot be used.
func dieBy(sig syscall.Signal) {
	if os.Getpid() == 1 || sig == syscall.SIGQUIT {
		return // the kernel protects PID 1, and Go prints stacks on QUIT
	}
	signal.Reset(sig)
	if syscall.Kill(os.Getpid(), sig) == nil {
		time.Sleep(time.Second)
	}
}

func shell(line string) []string { return []string{"/bin/sh", "-c", line} }
