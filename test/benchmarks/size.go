package main

import (
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

const (
	sizePrograms = "size"  // folder with a program per library
	plainProgram = "hello" // uses no library
)

func printSizes(ctx context.Context, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", dir, "./"+sizePrograms+"/...")
	// With cgo, the default if there is a C compiler, some standard packages make a
	// program dynamic.
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	build.Stderr = stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	plain, _, err := inspect(filepath.Join(dir, plainProgram))
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "| | kB added | linked |\n| --- | --- | --- |\n")
	for _, c := range columns {
		if _, err := os.Stat(filepath.Join(sizePrograms, c.name)); err != nil {
			continue // no program, as for the bare goroutine
		}
		size, linked, err := inspect(filepath.Join(dir, c.name))
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "| %s | %.0f | %s |\n", cmp.Or(c.module, c.title), float64(size-plain)/1000, linked)
	}
	return nil
}

func inspect(program string) (size int64, linked string, err error) {
	info, err := os.Stat(program)
	if err != nil {
		return 0, "", err
	}
	file, err := elf.Open(program)
	if err != nil {
		return 0, "", fmt.Errorf("%s is not a program for Linux: %w", filepath.Base(program), err)
	}
	defer file.Close()
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return info.Size(), "dynamic", nil
	}
	return info.Size(), "static", nil
}
