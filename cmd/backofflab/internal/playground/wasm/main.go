//go:build js

// Command wasm is the lab in a browser. worker.js calls its function lab.
package main

import (
	"runtime/debug"
	"syscall/js"

	"github.com/gobackoff/retry/cmd/backofflab/internal/playground/request"
)

func main() {
	debug.SetGCPercent(400) // a fifth less CPU time for the first picture
	js.Global().Set("lab", js.FuncOf(func(_ js.Value, args []js.Value) any { return request.Handle(args[0].String()) }))
	select {}
}
