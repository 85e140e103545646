package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeFile sets the mode regardless of the umask.
func writeFile(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(content), mode))
	require.NoError(t, os.Chmod(name, mode))
}
