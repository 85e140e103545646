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

// All methods of type processes must be called from the same goroutine.
type processes struct {
	changed chan os.Signal // a command has ended
}

func newProcesses() *processes { return &processes{changed: make(chan os.Signal, 1)} }

func (*processes) reap() {}

// become runs a command and ends retry with its status, because Windows cannot replace a
// process. It returns if it fails.
func (*processes) become(args []string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	if c.ProcessState != nil {
		os.Exit(c.ProcessState.ExitCode())
	}
	return err
}

func (*process) strays() bool { return false }

func (*processes) spareAll() {} // every command has its own job

// A process is a running command. Its job object contains all processes that it starts.
type process struct {
	job     windows.Handle
	ended   chan *os.ProcessState
	state   *os.ProcessState
	exited  bool
	stopped syscall.Signal // never set
}

type command struct {
	args                  []string
	env                   []string
	stdin, stdout, stderr *os.File
}

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// start keeps the command suspended until it belongs to its job, so that no process
// escapes.
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

// newJob returns a job whose processes end when retry ends, even if retry is killed.
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

func (p *process) update() {
	select {
	case p.state = <-p.ended:
		p.exited = true
	default:
	}
}

// release lets the processes that a successful command has left behind outlive retry.
func (p *process) release() { _ = setJobLimits(p.job, 0) }

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

// end ends the whole job at once: Windows has no signal that asks a process to end.
// After Ctrl-C, which reaches the command directly, the command may exit on its own.
func (p *process) end(sig syscall.Signal) (reached bool) { return sig == syscall.SIGINT || p.kill() }

func (p *process) kill() (reached bool) { return windows.TerminateJobObject(p.job, exitTimeout) == nil }

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	_                        [4]int64 // times
	_, _, activeProcesses, _ uint32
}

func (p *process) gone() bool {
	p.update()
	var info accounting
	err := windows.QueryInformationJobObject(p.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if !p.exited || err == nil && info.activeProcesses > 0 {
		return false
	}
	windows.CloseHandle(p.job)
	return true
}

func (p *process) survivors() []int { return nil } // no process survives its job

func startFailure(err error) (exit int, temporary bool) {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return exitNotFound, false
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION), errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY):
		return exitNotExecutable, true
	}
	return exitNotExecutable, false
}

// SIGINT is Ctrl-C or Ctrl-Break; SIGTERM is a closed console, a logoff or a shutdown.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM}

func notifySignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, endingSignals...)
	return signals
}

func dieBy(syscall.Signal) {} // there is only the exit status

func shell(line string) []string { return []string{"cmd", "/c", line} }

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

func readWaiting(*os.File, []byte) int { return 0 } // pipes have no deadlines

func unread(*os.File) bool { return false } // unknown
