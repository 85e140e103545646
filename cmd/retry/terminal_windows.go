package main

import (
	"syscall"
	"time"
)

// Type terminal is empty, because all processes of a console may read from the console.
type terminal struct{}

func openTerminal() *terminal { return &terminal{} }

func (*terminal) foreground() bool { return true }
func (*terminal) takeBack()        {}
func (*terminal) restore()         {}

// Type job has no state, because Windows has no job control.
type job struct{ resume <-chan time.Time }

func (*supervisor) forward(syscall.Signal)   {}
func (*supervisor) onStop()                  {}
func (*supervisor) resume()                  {}
func (*supervisor) watchKeyboard()           {}
func (*supervisor) interrupted() bool        { return false }
func (*session) onIdleSignal(syscall.Signal) {}

// keyboardName is unused: Ctrl-C reaches all processes of the console.
const keyboardName = ""

func beKeyboard() {}
