package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeFile makes a file of a test.
func writeFile(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(content), mode))
	require.NoError(t, os.Chmod(name, mode))
}
