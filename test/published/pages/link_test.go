package pages

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	inSpan  = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
)

// TestLinks: what the pages link to in the repository exists, and so does the heading.
func TestLinks(t *testing.T) {
	anchors, links := map[string]map[string]bool{}, 0
	for _, p := range pages(t) {
		anchors[p.name] = p.anchors()
	}
	for _, p := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(inSpan.ReplaceAllString(p.text, ""), -1) {
			file, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			links++
			target := p.name
			if file != "" {
				target = path.Join(path.Dir(p.name), file)
			}
			_, err := os.Stat(filepath.Join(root, target))
			assert.NoError(t, err, "%s links to %s", p.name, match[1])
			if anchor != "" {
				assert.True(t, anchors[target][anchor], "%s links to %s, which has no such heading", p.name, match[1])
			}
		}
	}
	assert.Greater(t, links, 100)
}

// anchors returns the anchors that GitHub makes of the page's headings: small letters,
// digits, underscores, and hyphens for spaces.
func (p page) anchors() map[string]bool {
	found := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(p.text, -1) {
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_-", r):
				return r
			}
			return -1
		}, strings.ToLower(match[1]))] = true
	}
	return found
}
