// Package playground makes the lab's page for browsers: a folder of static files that
// any web server can serve.
package playground

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed index.html app.js worker.js
var files embed.FS

// program is the package that is compiled for the browser.
const program = "github.com/gobackoff/retry/lab/internal/playground/wasm"

// Write makes the folder, and the files in it, of which those of the same names are
// replaced. It needs the go command and the sources of this module: run it in the module's
// folder.
func Write(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	binary, err := filepath.Abs(filepath.Join(folder, "lab.wasm"))
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, program)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("playground: go build %s: %w: %s", program, err, strings.Join(strings.Fields(string(out)), " "))
	}
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("playground: go env GOROOT: %w", err)
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("playground: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "wasm_exec.js"), support, 0o666); err != nil {
		return err
	}
	for _, name := range []string{"index.html", "app.js", "worker.js"} {
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
