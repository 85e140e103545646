//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestQuiet: retry prints nothing if the command succeeds, and with -q never anything.
func TestQuiet(t *testing.T) {
	assert.Empty(t, runRetry(t, "true").stderr)
	assert.Empty(t, runRetry(t, "-q", "false").stderr)
	assert.Regexp(t, `^retry: attempt 1 of 3 starts\nretry: attempt 1 of 3: success after \S+\n$`, runRetry(t, "-v", "true").stderr)
	r := runRetry(t, "-t", "2", "--deadline", "1h", "sh", "-c", "exit 7")
	assert.Regexp(t, `^retry: attempt 1 of 2: exit 7; next in \S+, deadline in 1h0m0s\nretry: attempt 2 of 2: exit 7; gave up after \S+\n$`, r.stderr)
}

func TestJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report")
	r := runRetry(t, "-q", "--json", file, "--retry-on", "timeout,signal,7", "--timeout", "100ms", "-t", "4", "sh", "-c",
		`case $RETRY_ATTEMPT in 1) exit 7;; 2) kill -KILL $$;; 3) sleep 1000;; 4) exit 8;; esac`)
	assert.Equal(t, 8, r.status)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var records []map[string]any
	for line := range strings.Lines(string(data)) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record), line)
		records = append(records, record)
	}
	require.Len(t, records, 5)
	for i, want := range []map[string]any{
		{"type": "attempt", "attempt": 1., "exit": 7., "error": "exit 7", "class": "transient"},
		{"type": "attempt", "attempt": 2., "exit": 137., "signal": "SIGKILL", "error": "signal 9 (SIGKILL)", "class": "transient"},
		{"type": "attempt", "attempt": 3., "exit": 124., "timeout": true, "error": "ended by the timeout of 100ms", "class": "timeout"},
		{"type": "attempt", "attempt": 4., "exit": 8., "error": "exit 8", "class": "permanent"},
		{"type": "summary", "attempts": 4., "exit": 8., "reason": "not retried"},
	} {
		record := records[i]
		assert.GreaterOrEqual(t, record["seconds"], 0.)
		if i < 4 {
			_, err := time.Parse(time.RFC3339Nano, record["start"].(string))
			assert.NoError(t, err)
		}
		assert.Equal(t, i < 3, record["wait"] != nil)
		for _, key := range []string{"seconds", "start", "wait"} {
			delete(record, key)
		}
		if record["signal"] == "SIGTERM" { // an attempt that a timeout ended
			delete(record, "signal")
		}
		assert.Equal(t, want, record)
	}
}
