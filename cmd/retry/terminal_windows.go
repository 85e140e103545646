package main

import (
	"syscall"
	"time"
)

// terminal is empty: all processes of a console may read from it.
type terminal struct{}

func openTerminal() *terminal { return &terminal{} }

func (*terminal) foreground() bool { return true }
func (*terminal) takeBack()        {}
func (*terminal) restore()         {}

// job is empty: there is no job control.
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
