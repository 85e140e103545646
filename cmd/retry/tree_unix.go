//go:build unix && !linux

package main

import "syscall"

// A tree is the command's process group. Without a child subreaper, processes that leave
// the group are lost.
type tree struct{}

func (*tree) init() {}

func (*tree) leave() {}

func (*tree) follow(*syscall.SysProcAttr) {}

func (p *process) signalTree(sig syscall.Signal) (reached bool) { return p.signalGroup(sig) }

func (p *process) gone() bool {
	p.ps.reap()
	return p.exited && p.groupGone()
}

func (p *process) survivors() []int {
	if p.gone() {
		return nil
	}
	return []int{-p.pid} // the group, as in kill(2)
}

func (*process) strays() bool { return false } // nothing tells

func (*processes) spareAll() {} // every command has its own group
