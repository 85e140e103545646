//go:build js

// Command wasm is the lab in a browser. worker.js calls its function lab.
package main

import (
	"runtime/debug"
	"syscall/js"

	"github.com/gobackoff/retry/lab/internal/playground/request"
)

func main() {
	debug.SetGCPercent(400) // the first picture takes 400 ms of CPU time instead of 500
	js.Global().Set("lab", js.FuncOf(func(_ js.Value, args []js.Value) any { return request.Handle(args[0].String()) }))
	select {}
}
