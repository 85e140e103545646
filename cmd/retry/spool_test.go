package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	for _, size := range []int{0, 1, spoolMemory - 1, spoolMemory, spoolMemory + 1, 3 * spoolMemory} {
		var s spool
		random := rand.New(rand.NewPCG(1, 2))
		var want []byte
		for len(want) < size {
			p := make([]byte, min(1+random.IntN(100_000), size-len(want)))
			for i := range p {
				p[i] = byte(random.Uint32())
			}
			_, err := s.Write(p)
			require.NoError(t, err)
			want = append(want, p...)
		}
		assert.Equal(t, size > spoolMemory, s.file != nil)
		got, err := io.ReadAll(io.NewSectionReader(&s, 0, s.size))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got))
		s.Close()
		assert.Zero(t, s.size)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, entries)
	}
}

// TestSpoolWithoutFile: a failed write loses no earlier data.
func TestSpoolWithoutFile(t *testing.T) {
	t.Setenv("TMPDIR", "/no/such/folder")
	t.Setenv("TMP", `Z:\no\such\folder`)
	var s spool
	data := bytes.Repeat([]byte("x"), spoolMemory)
	_, err := s.Write(data)
	require.NoError(t, err)
	_, err = s.Write([]byte("y"))
	require.Error(t, err)
	got, err := io.ReadAll(io.NewSectionReader(&s, 0, s.size))
	require.NoError(t, err)
	assert.Equal(t, data, got)
}
