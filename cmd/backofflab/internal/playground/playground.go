// Package playground writes the lab as a page for browsers: static files for any web server.
package playground

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/page"
)

//go:embed index.html app.js worker.js
var files embed.FS

const program = "github.com/gobackoff/retry/cmd/backofflab/internal/playground/wasm"

// Write writes the files to folder, replacing existing ones. It needs the go command, and
// must run in this module's folder; otherwise it writes nothing.
func Write(ctx context.Context, folder string) error {
	root, err := command(ctx, "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("playground: the go command compiles the page's program: %w", err)
	}
	if err := command(ctx, "list", program).Run(); err != nil {
		return cmp.Or(ctx.Err(), errors.New("playground: the sources of the lab are missing here; run the command in the folder cmd of a checkout of github.com/gobackoff/retry"))
	}
	binary, err := compile(ctx)
	if err != nil {
		return fmt.Errorf("playground: %w", err)
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("playground: %w", err)
	}
	contents := map[string][]byte{
		"lab.bin": binary, "wasm_exec.js": support, "charts.js": []byte(chart.Script()), "style.css": []byte(page.Style()),
	}
	for _, name := range []string{"index.html", "app.js", "worker.js"} {
		if contents[name], err = files.ReadFile(name); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for name, data := range contents {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// command returns a go command for the browser's platform.
func command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	return c
}

// compile returns the program, compressed because few servers compress WebAssembly.
func compile(ctx context.Context) ([]byte, error) {
	temp, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, "lab.wasm")
	if out, err := command(ctx, "build", "-trimpath", "-ldflags=-s -w", "-o", binary, program).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build %s: %w: %s", program, err, strings.Join(strings.Fields(string(out)), " "))
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w.Write(data) // to memory
	err = w.Close()
	return compressed.Bytes(), err
}
