package retryhttp

// This file is in the package because the messages have no exported names.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMessages: each text occurs in the source of this version of net/http. Those of
// quic-go are tested with quic-go, in internal/servers.
func TestMessages(t *testing.T) {
	var source strings.Builder
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	dir := filepath.Join(strings.TrimSpace(string(root)), "src/net/http")
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(dir, "internal/httpcommon/*.go"))
	require.NoError(t, err)
	for _, name := range append(files, more...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		source.Write(data)
	}
	if source.Len() == 0 {
		t.Skip("no source of net/http")
	}
	for _, m := range messages {
		// Prefixes that net/http puts together from two parts.
		text := strings.TrimPrefix(strings.TrimSpace(m.prefix), "http2: request h")
		if strings.HasPrefix(text, "http3") || strings.HasPrefix(text, "H3_") {
			continue
		}
		assert.Contains(t, source.String(), text)
		assert.Equal(t, m.meaning, meaningOf(fmt.Errorf("outer: %w", lostError(m.prefix+"1"+m.suffix))), m.prefix)
	}
	for _, text := range []string{"http2: Transport: cannot retry err [", "] after Request.Body was written"} {
		assert.Contains(t, source.String(), text)
	}
	assert.Equal(t, notKnown, meaningOf(lostError("stream error: stream ID 1; CANCEL")))
	assert.Equal(t, notKnown, meaningOf(nil))
}
