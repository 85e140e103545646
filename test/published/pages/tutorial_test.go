package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const tutorial = "docs/tutorial.md"

var (
	block    = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```")
	fileName = regexp.MustCompile("`(\\w+\\.go)`")
	// varying matches what differs from run to run.
	varying = regexp.MustCompile(`\d{4}/\d\d/\d\d \d\d:\d\d:\d\d|\d+(\.\d+)?(µs|ms|s)\b|127\.0\.0\.1:\d+`)
)

// TestTutorial follows the tutorial in a new module. A block of Go is written to the file that
// the text above names last, a command is run, and what it prints is what the page shows.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a dozen programs")
	}
	text, err := os.ReadFile(filepath.Join(root, tutorial))
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	checkout, err := filepath.Abs(root)
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	write("go.sum", string(sums))

	page, printed, above := string(text), "", 0
	for i, at := range block.FindAllStringSubmatchIndex(page, -1) {
		prose, language, content := page[above:at[0]], page[at[2]:at[3]], page[at[4]:at[5]]
		above = at[1]
		switch language {
		case "go":
			names := fileName.FindAllStringSubmatch(prose, -1)
			require.NotEmpty(t, names, "no file is named above block %d", i)
			write(names[len(names)-1][1], content)
		case "sh":
			if strings.Contains(content, "go mod init") {
				write("go.mod", "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/gobackoff/retry v0.0.0\n\nreplace github.com/gobackoff/retry => "+checkout+"\n")
				continue
			}
			assert.Empty(t, printed, "the page does not show this")
			printed = run(t, dir, content)
		default:
			assert.Equal(t, varying.ReplaceAllString(content, "…"), varying.ReplaceAllString(printed, "…"))
			printed = ""
		}
	}
	assert.Empty(t, printed, "the page does not show this")
}

// run returns what a command prints. Some commands of the tutorial fail, and are shown to.
func run(t *testing.T, dir, command string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", command)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, _ := shell.CombinedOutput()
	return string(out)
}
