package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for each library")
	}
	if _, err := exec.LookPath("gcc"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux and a C compiler")
	}
	var stdout, stderr bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-size"}, &stdout, &stderr), stderr.String())
	text := stdout.String()
	assert.Regexp(t, `\n\| this library \| \d+ \| static \|\n`, text)
	assert.Regexp(t, `\n\| github.com/aws/aws-sdk-go-v2 \| \d+ \| dynamic \|\n`, text, "its HTTP client needs package net")

	// Every program has a row and prints the same line.
	programs, err := os.ReadDir(sizePrograms)
	require.NoError(t, err)
	assert.Equal(t, len(programs)-1, strings.Count(text, " static |")+strings.Count(text, " dynamic |"))
	for _, p := range programs {
		out, err := exec.Command("go", "run", "-buildvcs=false", "./"+filepath.Join(sizePrograms, p.Name())).CombinedOutput()
		assert.NoError(t, err)
		assert.Equal(t, "hello, world\n", string(out), p.Name())
	}
}

func TestInspect(t *testing.T) {
	t.Run("no file", func(t *testing.T) {
		_, _, err := inspect(filepath.Join(t.TempDir(), "none"))
		assert.ErrorIs(t, err, os.ErrNotExist)
	})
	t.Run("not a program", func(t *testing.T) {
		_, _, err := inspect("size.go")
		assert.ErrorContains(t, err, "size.go is not a program for Linux")
	})
}
