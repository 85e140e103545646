package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMessages: each text occurs in the source of this version of net/http. Those of
// quic-go are tested with quic-go, in test/servers.
func TestMessages(t *testing.T) {
	var source strings.Builder
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	dir := os.DirFS(filepath.Join(strings.TrimSpace(string(root)), "src/net/http"))
	require.NoError(t, fs.WalkDir(dir, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		source.Write(data)
		return err
	}))
	for _, m := range messages {
		// Prefixes that net/http puts together from two parts.
		text := strings.TrimPrefix(strings.TrimSpace(m.prefix), "http2: request h")
		if strings.HasPrefix(text, "http3") || strings.HasPrefix(text, "H3_") {
			continue
		}
		assert.True(t, strings.Contains(source.String(), text), text)
		assert.Equal(t, m.meaning, meaningOf(fmt.Errorf("outer: %w", errors.New(m.prefix+"1"+m.suffix))), m.prefix)
	}
	for _, text := range []string{"http2: Transport: cannot retry err [", "] after Request.Body was written"} {
		assert.True(t, strings.Contains(source.String(), text), text)
	}
	assert.Zero(t, meaningOf(errors.New("stream error: stream ID 1; CANCEL")))
	assert.Zero(t, meaningOf(nil))
}
