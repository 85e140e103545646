package pages

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// A page is a file of documentation.
type page struct {
	name string // path in the repository
	text string
}

// dir returns the folder in which the commands of the page run.
func (p page) dir() string {
	if dir := path.Dir(p.name); dir != "docs" {
		return dir
	}
	return "."
}

// repository returns the names of the repository's files with that ending.
func repository(t *testing.T, ending string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "*"+ending)
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// pages returns all pages of the repository.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	for _, name := range repository(t, ".md") {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		all = append(all, page{name, string(text)})
	}
	require.Greater(t, len(all), 10)
	return all
}

// blocks returns the fenced blocks of a language.
func (p page) blocks(language string) []string {
	var found []string
	for i, part := range strings.Split(p.text, "```") {
		if text, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			found = append(found, text)
		}
	}
	return found
}

// inText matches a command in the text: a code span that begins with one of these.
var inText = regexp.MustCompile("`((?:cd [^`&]+ && )?(?:go|git|npm|python3|retry|backofflab|\\.ci/\\w+|\\./\\w+)(?: [^`]+)?)`")

// commands returns the commands of the page: the lines of its shell blocks, and those
// within the text.
func (p page) commands() []string {
	var found []string
	for _, block := range p.blocks("sh") {
		for line := range strings.Lines(block) {
			line, _, _ = strings.Cut(line, "  # ")
			line, _, _ = strings.Cut(line, "   #")
			if line = strings.TrimSpace(line); line != "" {
				found = append(found, line)
			}
		}
	}
	text := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(p.text, "")
	for _, match := range inText.FindAllStringSubmatch(text, -1) {
		if strings.Contains(match[1], " ") || strings.HasPrefix(match[1], ".") {
			found = append(found, match[1])
		}
	}
	return found
}
