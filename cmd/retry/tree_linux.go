package main

import (
	"bytes"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A tree finds all processes of a command. As a child subreaper, retry becomes the parent
// of every orphan, even outside the command's group or session. So all processes of a
// command are descendants of retry, and none is left when retry has no children.
type tree struct {
	proc   bool             // /proc shows the processes of this PID namespace
	spared map[int]starting // descendants that do not belong to the command
	mixed  bool             // some of the children do not belong to the command, and /proc does not show which
}

// Type starting is the start time of a process in clock ticks. It distinguishes a process
// from a later one with the same ID.
type starting uint64

type member struct {
	pid, parent, group int
	start              starting
	zombie             bool
}

func (t *tree) init() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // fails before Linux 3.4, where process groups must suffice
	status, _ := os.ReadFile("/proc/self/status")
	t.proc = isOwn(status, os.Getpid())
	// If a shell started retry with exec, the shell's children are now retry's.
	if unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil {
		t.spare()
	}
}

// leave gives up the parentage of orphans, which would survive execve(2).
func (t *tree) leave() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }

// isOwn reports whether the content of /proc/self/status, described in
// proc_pid_status(5), is from the /proc of the PID namespace in which this process has the
// given ID. In the /proc of an outer namespace, such as that of a container's host, the
// IDs belong to other processes, and NSpid also lists the IDs in the inner ones. Before
// Linux 4.1 there is no NSpid.
func isOwn(status []byte, pid int) bool {
	own := strconv.Itoa(pid)
	same := false
	for line := range strings.Lines(string(status)) {
		switch name, ids, _ := strings.Cut(strings.TrimSpace(line), ":\t"); name {
		case "Pid":
			same = ids == own
		case "NSpid":
			return same && ids == own
		}
	}
	return same
}

// follow makes the kernel send SIGTERM to the command if retry is killed.
func (t *tree) follow(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// spare excludes all current descendants from later signals.
func (t *tree) spare() {
	members, ok := t.members()
	t.mixed = t.mixed || !ok
	spared := map[int]starting{}
	for _, m := range members {
		spared[m.pid] = m.start
	}
	if t.spared == nil {
		t.spared = spared
		return
	}
	maps.Copy(t.spared, spared)
}

// members returns the living descendants of retry, except spared ones and their
// descendants, or false if /proc does not show them.
func (t *tree) members() ([]member, bool) {
	if !t.proc {
		return nil, false
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	children := map[int][]member{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if m, ok := readMember(pid); ok {
				children[m.parent] = append(children[m.parent], m)
			}
		}
	}
	var found []member
	queue := []int{os.Getpid()}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		for _, m := range children[parent] {
			if start, ok := t.spared[m.pid]; ok && start == m.start {
				continue
			}
			if !m.zombie {
				found = append(found, m)
			}
			queue = append(queue, m.pid)
		}
	}
	return found, true
}

// readMember reads /proc/PID/stat, described in proc_pid_stat(5).
func readMember(pid int) (member, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return member{}, false
	}
	// The program name is in parentheses and may itself contain parentheses.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return member{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(fields[i])); return n }
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	state := fields[0][0]
	return member{pid: pid, parent: number(1), group: number(2), start: starting(start),
		zombie: state == 'Z' || state == 'X'}, err == nil
}

func (p *process) signalTree(sig syscall.Signal) (reached bool) {
	members, ok := p.ps.tree.members()
	if !ok {
		return p.signalGroup(sig)
	}
	group := false
	for _, m := range members {
		if m.group == p.pid {
			group = true
			continue
		}
		if signalMember(m, sig) {
			reached = true
		}
	}
	if group { // to all at once, so that none escapes by forking
		reached = p.signalGroup(sig) || reached
	}
	return reached
}

// signalMember uses a process file descriptor, so that the signal cannot reach a later
// process with the same ID. It reports whether the process has received the signal.
func signalMember(m member, sig syscall.Signal) bool {
	fd, err := unix.PidfdOpen(m.pid, 0)
	if err == unix.ENOSYS { // before Linux 5.3
		return syscall.Kill(m.pid, sig) == nil
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	now, ok := readMember(m.pid)
	return ok && now.start == m.start && unix.PidfdSendSignal(fd, sig, nil, 0) == nil
}

func (p *process) gone() bool {
	if p.ps.reap() {
		return true
	}
	if !p.exited {
		return false
	}
	if p.ps.tree.proc && len(p.ps.tree.spared) == 0 {
		return false // the remaining children are the command's
	}
	members, ok := p.ps.tree.members()
	if !ok {
		return p.groupGone()
	}
	return len(members) == 0
}

func (p *process) survivors() []int {
	members, ok := p.ps.tree.members()
	if !ok && !p.groupGone() {
		return []int{-p.pid} // the group, as in kill(2)
	}
	var pids []int
	for _, m := range members {
		pids = append(pids, m.pid)
	}
	return pids
}

// strays reports whether the command, whose group is gone, has left other processes that
// cannot be found.
func (p *process) strays() bool {
	t := &p.ps.tree
	return !t.proc && !t.mixed && !p.ps.reap()
}

func (ps *processes) spareAll() {
	if !ps.reap() {
		ps.tree.spare()
	}
}
