//go:build unix

package main

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

// TestRecipes runs the recipes of docs/command.md, with programs that fail first as the real
// ones do. Each run of a program adds a line to the file runs.
func TestRecipes(t *testing.T) {
	section := recipes(t)
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

// TestPushRecipe runs the recipe for a push that is refused, with git. A commit that the recipe
// does not push has to be seen, and stays where it is.
func TestPushRecipe(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	line := recipe(t, recipes(t), "git push")
	for _, tt := range []struct {
		name, before string // what is done in the clone before the recipe
		ours         string // the file that our commit changes
		status       int
		log          string // of the remote's branch, newest first
	}{
		{name: "refused", ours: "b", log: "ours theirs first"},
		{name: "as a CI job checks out", before: "git checkout -q --detach", ours: "b", log: "ours theirs first"},
		{name: "conflict", ours: "a", status: 1, log: "theirs first"},
		{name: "files that are not committed", before: "echo new >a", ours: "b", status: 128, log: "theirs first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			script := `set -e
				git init -q --bare -b main origin
				git clone -q origin mine 2>/dev/null; git clone -q origin other 2>/dev/null
				commit() { echo "$1" >"$2"; git add "$2"; git commit -qm "$1"; }
				(cd other; git checkout -q -B main; commit first a; git push -q origin main)
				(cd mine; git pull -q origin main; git checkout -q -B main)
				(cd other; commit theirs a; git push -q origin main)
				cd mine; BEFORE; commit ours OURS; OTHER
				set +e; RETRY; echo "status $?"
				git -C ../origin log --format=%s main | xargs echo "log"
				git log --format=%s main | xargs echo "mine"`
			before, other := tt.before, "true"
			if strings.HasPrefix(before, "echo") { // after our commit
				before, other = "true", before
			}
			script = strings.NewReplacer("BEFORE", or(before, "true"), "OURS", tt.ours, "OTHER", other, "RETRY", os.Args[0]+line).Replace(script)
			c := newCommand(t)
			c.Dir = t.TempDir()
			c.Env = append(c.Env, "RETRY_BASE=1ms", "RETRY_CAP=1ms", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_EDITOR=true",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
			c.Path, c.Args = "/bin/sh", []string{"sh", "-c", script}
			r := finish(t, c)
			assert.Contains(t, r.stdout, fmt.Sprintf("status %d\n", tt.status), r.stderr)
			assert.Contains(t, r.stdout, "log "+tt.log+"\n", r.stderr)
			if before == "true" {
				assert.Contains(t, r.stdout, "mine ours ", "the commit is on its branch")
			}
		})
	}
}

func recipes(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/command.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## Recipes\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	return section
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
