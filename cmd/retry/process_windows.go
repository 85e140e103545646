package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// processes starts commands. All methods belong to one goroutine.
type processes struct {
	changed chan os.Signal // a command has ended
}

func newProcesses() *processes { return &processes{changed: make(chan os.Signal, 1)} }

func (*processes) reap() {}

// spareAll does nothing: every command has a job of its own.
func (*processes) spareAll() {}

// process is a running command in a job object of its own, which all that it
// starts belongs to, too.
type process struct {
	job     windows.Handle
	ended   chan *os.ProcessState
	state   *os.ProcessState
	exited  bool
	stopped syscall.Signal // never
}

// command is what to start. The files are passed on as they are.
type command struct {
	args                  []string
	env                   []string
	stdin, stdout, stderr *os.File
}

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// start starts a command. It is suspended until it belongs to its job, so that
// nothing that it starts escapes.
func (ps *processes) start(c command, _ *terminal) (*process, error) {
	path, err := exec.LookPath(c.args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, err
	}
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	child, err := os.StartProcess(path, c.args, &os.ProcAttr{
		Env:   c.env,
		Files: []*os.File{c.stdin, c.stdout, c.stderr},
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	p := &process{job: job, ended: make(chan *os.ProcessState, 1)}
	var joined error
	err = child.WithHandle(func(handle uintptr) {
		if joined = windows.AssignProcessToJobObject(job, windows.Handle(handle)); joined == nil {
			if status, _, _ := resumeProcess.Call(handle); status != 0 {
				joined = windows.NTStatus(status)
			}
		}
	})
	if err = errors.Join(err, joined); err != nil {
		_ = child.Kill()
		windows.CloseHandle(job)
		return nil, err
	}
	go func() {
		state, _ := child.Wait()
		p.ended <- state
		ps.changed <- nil
	}()
	return p, nil
}

// newJob returns a job that ends when retry ends, also if retry is killed.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err == nil {
		err = setJobLimits(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	}
	return job, err
}

func setJobLimits(job windows.Handle, flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// look updates the state of the command. What a successful one has left in the
// background may outlive retry.
func (p *process) look() {
	select {
	case p.state = <-p.ended:
		if p.exited = true; p.succeeded() {
			_ = setJobLimits(p.job, 0)
		}
	default:
	}
}

func (p *process) succeeded() bool { return p.exited && p.state != nil && p.state.Success() }

// result returns the exit status of the command. There are no signals.
func (p *process) result() (exit int, sig syscall.Signal) {
	const controlC = 0xC000013A // STATUS_CONTROL_C_EXIT
	if p.state == nil {
		return exitFailure, 0
	}
	if code := uint32(p.state.ExitCode()); code == controlC {
		return -1, syscall.SIGINT
	}
	return p.state.ExitCode(), 0
}

// end ends the whole job at once, since a process cannot be asked to end.
// Ctrl-C has reached the command without retry: there is time for that.
func (p *process) end(sig syscall.Signal) {
	if sig != syscall.SIGINT {
		p.kill()
	}
}

func (p *process) kill() { _ = windows.TerminateJobObject(p.job, exitTimeout) }

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	_                        [4]int64 // times
	_, _, activeProcesses, _ uint32
}

// gone reports whether nothing is left in the job.
func (p *process) gone() bool {
	p.look()
	var info accounting
	err := windows.QueryInformationJobObject(p.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if !p.exited || err == nil && info.activeProcesses > 0 {
		return false
	}
	windows.CloseHandle(p.job)
	return true
}

// survivors returns nothing: processes of a job do not survive its end.
func (p *process) survivors() []int { return nil }

// startFailure sorts the errors of start: the exit status for a command that
// could not be started, and whether it may be possible later.
func startFailure(err error) (exit int, temporary bool) {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return exitNotFound, false
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION), errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY):
		return exitNotExecutable, true
	}
	return exitNotExecutable, false
}

// endingSignals are Ctrl-C and Ctrl-Break, and what Go makes of closing the
// console, of logging off and of shutting down.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM}

func notifySignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, endingSignals...)
	return signals
}

// dieBy does nothing: there is only the exit status.
func dieBy(syscall.Signal) {}

// shell returns the arguments that run a line of the command interpreter.
func shell(line string) []string { return []string{"cmd", "/c", line} }

// signalName returns the name of a signal.
func signalName(sig syscall.Signal) string {
	switch sig {
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGTERM:
		return "SIGTERM"
	}
	return sig.String()
}

func isSignalName(name string) bool { return name == "SIGINT" || name == "SIGTERM" }

// readWaiting reads nothing: there are no deadlines.
func readWaiting(*os.File, []byte) int { return 0 }

// unread reports nothing: it is not known.
func unread(*os.File) bool { return false }
