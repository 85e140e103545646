package http_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refused lists the tests of go-retryablehttp that must fail with a Transport, and why.
var refused = map[string]string{
	"TestClient_RequestWithContext": "no attempt is made with a context that has ended, so CheckRetry is not called",
}

// TestPeerSuite runs go-retryablehttp's tests with its Client.Do replaced by that of
// testdata/retryablehttp/adapter.go, which uses a Transport.
func TestPeerSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	source := strings.TrimSpace(output(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/hashicorp/go-retryablehttp"))
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	names, err := filepath.Glob(filepath.Join(source, "*"))
	require.NoError(t, err)
	names = append(names, "testdata/retryablehttp/adapter.go")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // a directory
		}
		text := string(data)
		switch filepath.Base(name) {
		case "client.go":
			own := "func (c *Client) Do(req *Request)"
			require.Contains(t, text, own)
			text = strings.Replace(text, own, "func (c *Client) ownDo(req *Request)", 1)
		case "go.mod":
			text += "\nrequire github.com/gobackoff/retry v0.0.0\nreplace github.com/gobackoff/retry => " + root + "\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), 0o600))
	}
	cmd := exec.Command("go", "test", "-mod=mod", "-vet=off", "-json", "-timeout", "3m", ".")
	cmd.Dir = dir
	log, _ := cmd.CombinedOutput() // fails if a test does
	passed, failed := 0, map[string]bool{}
	for line := range strings.Lines(string(log)) {
		var event struct{ Action, Test string }
		if json.Unmarshal([]byte(line), &event) != nil || event.Test == "" || strings.Contains(event.Test, "/") {
			continue
		}
		switch event.Action {
		case "pass":
			passed++
		case "fail":
			failed[event.Test] = true
		}
	}
	require.Positive(t, passed, "%s", log)
	for name := range failed {
		assert.Contains(t, refused, name)
	}
	for name, why := range refused {
		assert.True(t, failed[name], "%s passes, although %s", name, why)
	}
	t.Logf("%d passed, %d refused", passed, len(failed))
	if t.Failed() {
		t.Logf("%s", log)
	}
}

func output(t *testing.T, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	data, err := cmd.Output()
	require.NoError(t, err)
	return string(data)
}
