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

// processes starts commands. All methods must be called by one goroutine.
type processes struct {
	changed chan os.Signal // a command has ended
}

func newProcesses() *processes { return &processes{changed: make(chan os.Signal, 1)} }

func (*processes) reap() {}

// spareAll does nothing, because every command has its own job.
func (*processes) spareAll() {}

// process is a running command in its own job object, to which all processes
// that it starts also belong.
type process struct {
	job     windows.Handle
	ended   chan *os.ProcessState
	state   *os.ProcessState
	exited  bool
	stopped syscall.Signal // never
}

// command describes a command to start. The files are passed on unchanged.
type command struct {
	args                  []string
	env                   []string
	stdin, stdout, stderr *os.File
}

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// start starts a command. The command is suspended until it belongs to its job, so
// that none of its processes escapes.
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

// newJob returns a job that ends when retry ends, even if retry is killed.
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

// look updates the state of the command. Background processes of a successful
// command may outlive retry.
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

// end ends the whole job at once, because there is no signal that asks a
// process to end. After Ctrl-C, which reaches the command directly, the
// command gets time to end.
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

// gone reports whether the job has no process left.
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

// survivors returns nil, because processes of a job do not survive its end.
func (p *process) survivors() []int { return nil }

// startFailure returns the exit status for a command that could not be started,
// and whether it may be possible later.
func startFailure(err error) (exit int, temporary bool) {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return exitNotFound, false
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION), errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY):
		return exitNotExecutable, true
	}
	return exitNotExecutable, false
}

// endingSignals are Ctrl-C and Ctrl-Break, and Go's signal for closing the
// console, logging off and shutting down.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM}

func notifySignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, endingSignals...)
	return signals
}

// dieBy does nothing, because there is only the exit status.
func dieBy(syscall.Signal) {}

// shell returns the arguments that run a line in the command interpreter.
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

// readWaiting reads nothing, because there are no deadlines.
func readWaiting(*os.File, []byte) int { return 0 }

// unread returns false, because it is not known.
func unread(*os.File) bool { return false }
