//go:build unix && !linux

package main

import "syscall"

// tree is the command's process group: without a child subreaper a process
// that leaves the group is lost.
type tree struct{}

func (*tree) init() {}

func (*tree) follow(*syscall.SysProcAttr) {}

// signalTree sends a signal to the command's process group.
func (p *process) signalTree(sig syscall.Signal) { p.signalGroup(sig) }

// gone reports whether the command's process group has no member left.
func (p *process) gone() bool {
	p.ps.reap()
	return p.exited && p.groupGone()
}

// survivors returns the number of the process group if it has members left.
func (p *process) survivors() []int {
	if p.gone() {
		return nil
	}
	return []int{-p.pid}
}

// spareAll does nothing, because every command has its own group.
func (*processes) spareAll() {}
