//go:build js

// Command wasm is the lab in a browser: worker.js calls its function lab.
package main

import (
	"syscall/js"

	"github.com/gobackoff/retry/lab/internal/playground/request"
)

func main() {
	js.Global().Set("lab", js.FuncOf(func(_ js.Value, args []js.Value) any { return request.Handle(args[0].String()) }))
	select {}
}
