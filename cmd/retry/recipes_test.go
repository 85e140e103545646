//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecipes runs the recipes of docs/command.md, with programs that fail first as the real
// ones do. Each run of a program adds a line to the file runs.
func TestRecipes(t *testing.T) {
	page, err := os.ReadFile("../../docs/command.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## Recipes\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")

	const locked = "echo 'Error: Error acquiring the state lock' >&2; exit 1"
	for name, tt := range map[string]struct {
		program, first, then string // what the program does in its first run, and afterwards
		runs, status         int
		output               string
	}{
		"apt-get":                     {"apt-get", "echo 'Err:1 http://deb.debian.org stable InRelease'; echo 'W: Failed to fetch http://deb.debian.org' >&2", "echo 'Hit:1 http://deb.debian.org'", 2, 0, "Hit:1"},
		"a port that is open":         {"psql", "echo 'the database system is starting up' >&2; exit 2", "echo 1", 2, 0, "1"},
		"a lock":                      {"terraform", locked, "echo Apply complete", 2, 0, "Apply complete"},
		"an apply that fails halfway": {"terraform", "echo 'Error: creating bucket' >&2; exit 1", "echo again", 1, 1, "creating bucket"},
		"a job":                       {"backup", "echo part; exit 1", "echo whole", 2, 0, "whole"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := "#!/bin/sh\necho >>" + dir + "/runs\nif [ $(wc -l <" + dir + "/runs) = 1 ]; then " + tt.first + "; else " + tt.then + "; fi\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, tt.program), []byte(script), 0o755))
			c := newCommand(t)
			c.Env = append(c.Env, "PATH="+dir+":"+os.Getenv("PATH"), "RETRY_BASE=1ms", "RETRY_CAP=1ms")
			// The wait for the other machines would take minutes.
			line := strings.ReplaceAll(recipe(t, section, tt.program), "--stagger 5m", "--stagger 1ms")
			c.Path, c.Args = "/bin/sh", []string{"sh", "-c", os.Args[0] + line}
			r := finish(t, c)
			runs, err := os.ReadFile(filepath.Join(dir, "runs"))
			require.NoError(t, err)
			assert.Len(t, runs, tt.runs, r.stderr)
			assert.Equal(t, tt.status, r.status, r.stderr)
			assert.Contains(t, r.stdout+r.stderr, tt.output)
			if tt.program == "backup" {
				assert.Equal(t, "whole\n", r.stdout+r.stderr, "what cron would send")
			}
		})
	}
}

// recipe returns the arguments of the recipe that runs a program.
func recipe(t *testing.T, section, program string) string {
	for line := range strings.Lines(section) {
		_, arguments, found := strings.Cut(line, "retry --")
		if found && strings.Contains(arguments, " -- "+program) {
			return " --" + strings.TrimSpace(arguments)
		}
	}
	require.Fail(t, "no recipe for "+program)
	return ""
}
