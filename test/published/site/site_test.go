package site

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/test/published/browser"
)

const base = "/retry/" // the path of the site's address

// TestSite: the site has every page. Its links and anchors lead somewhere, its search finds
// what people look for, and it is readable on a small screen.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	_, err := exec.LookPath("npm")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("no npm")
	}
	folder := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "../../../.ci/site", folder).CombinedOutput()
	require.NoError(t, err, "%s", out)
	server := httptest.NewServer(http.StripPrefix(base, http.FileServer(http.Dir(folder))))
	t.Cleanup(server.Close)

	t.Run("links", func(t *testing.T) { checkLinks(t, folder) })
	t.Run("search", func(t *testing.T) { checkSearch(t, server.URL) })
	t.Run("small screen", func(t *testing.T) { checkSmallScreen(t, server.URL, folder) })
}

var (
	link   = regexp.MustCompile(` (?:href|src)="([^"]*)"`)
	anchor = regexp.MustCompile(` (?:id|name)="([^"]*)"`)
)

// checkLinks: each link to the site leads to a file, and to an anchor in it.
func checkLinks(t *testing.T, folder string) {
	pages := pagesIn(t, folder)
	anchors := map[string][]string{}
	for name, text := range pages {
		for _, match := range anchor.FindAllStringSubmatch(text, -1) {
			anchors[name] = append(anchors[name], match[1])
		}
	}
	links := 0
	for name, text := range pages {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			to, err := url.Parse(strings.ReplaceAll(match[1], "&amp;", "&"))
			require.NoError(t, err, "%s links to %s", name, match[1])
			if to.Host != "" || to.Scheme != "" {
				continue
			}
			links++
			target := path.Join(path.Dir(base+name), to.Path)
			switch {
			case to.Path == "":
				target = base + name
			case strings.HasPrefix(to.Path, "/"):
				target = to.Path
			}
			if strings.HasSuffix(to.Path, "/") {
				target = path.Join(target, "index.html")
			}
			file := strings.TrimPrefix(target, base)
			_, err = os.Stat(filepath.Join(folder, file))
			assert.NoError(t, err, "%s links to %s", name, match[1])
			if to.Fragment != "" {
				assert.Contains(t, anchors[file], to.Fragment, "%s links to %s", name, match[1])
			}
		}
	}
	assert.Greater(t, links, 1000)
}

// pagesIn returns the text of each page of documentation, by its path.
func pagesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" || strings.HasPrefix(name, "playground/") || name == "404.html" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		pages[name] = string(text)
		return err
	})
	require.NoError(t, err)
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "../../../docs/*.md").Output()
	require.NoError(t, err)
	assert.Greater(t, len(pages), strings.Count(string(list), "\n"), "every page of docs")
	return pages
}

// checkSearch types what users look for. One of the first results has to be the page with the answer.
func checkSearch(t *testing.T, address string) {
	tab := browser.New(t, 1200, "light", address)
	tab.Run(t, chromedp.Navigate(address+base+"docs/"), chromedp.WaitVisible(".VPNavBarSearch button"))
	for _, tt := range []struct {
		words string
		pages []string
	}{
		{"retry quota exceeded", []string{"aws", "troubleshooting"}},
		{"idempotency key", []string{"http", "recipes"}},
		{"webhook", []string{"recipes"}},
		{"circuit breaker", []string{"libraries"}},
		{"wait for a port in docker", []string{"command"}},
		{"cron", []string{"command"}},
		{"rate limit redis", []string{"limits"}},
		{"jitter", []string{"choosing"}},
		{"lost commit", []string{"sql"}},
		{"Retry-After", []string{"errors", "recipes", "limits"}},
		{"health check", []string{"overload"}},
		{"resume download", []string{"transfers"}},
		{"websocket reconnect", []string{"connections"}},
		{"kafka", []string{"libraries", "durable"}},
		{"synctest", []string{"guide", "tutorial", "testing"}},
		{"environment variable policy", []string{"configuration", "command", "aws"}},
		{"cenkalti backoff", []string{"migrating"}},
		{"prometheus alert", []string{"telemetry"}},
		{"service config", []string{"grpc"}},
		{"openai stream", []string{"llm"}},
	} {
		var results []string
		tab.Run(t, chromedp.Evaluate(`sessionStorage.clear()`, nil), // it keeps the last words
			open(".VPNavBarSearch button", "#localsearch-input"), chromedp.WaitVisible("#localsearch-input"),
			chromedp.Evaluate(fmt.Sprintf(`{
				const input = document.querySelector("#localsearch-input")
				input.value = %q
				input.dispatchEvent(new Event("input"))
			}`, tt.words), nil),
			chromedp.WaitVisible("#localsearch-list .result"),
			chromedp.Evaluate(`[...document.querySelectorAll("#localsearch-list .result")].slice(0, 3).map(e => e.getAttribute("href"))`, &results),
			chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("#localsearch-input"))
		t.Log(tt.words, results)
		found := slices.ContainsFunc(results, func(result string) bool {
			name := strings.TrimSuffix(path.Base(strings.Split(result, "#")[0]), ".html")
			return slices.Contains(tt.pages, name)
		})
		assert.True(t, found, "%q finds %v", tt.words, results)
	}
}

// checkSmallScreen: no page scrolls sideways, and the menu opens.
func checkSmallScreen(t *testing.T, address, folder string) {
	tab := browser.New(t, 375, "dark", address)
	for name := range pagesIn(t, folder) {
		var wide bool
		tab.Run(t, chromedp.Navigate(address+base+name), chromedp.WaitVisible(".vp-doc"),
			chromedp.Evaluate(`document.documentElement.scrollWidth > innerWidth`, &wide))
		assert.False(t, wide, "%s is wider than the screen", name)
	}
	tab.Run(t, chromedp.Navigate(address+base+"docs/"), open(".VPLocalNav .menu", ".VPSidebar.open"), chromedp.WaitVisible(`.VPSidebar a[href$="/docs/guide.html"]`))
	tab.Screenshot(t, "menu")
	// A click at its place would miss it while the menu moves in.
	tab.Run(t, chromedp.Evaluate(`document.querySelector('.VPSidebar a[href$="/docs/guide.html"]').click()`, nil), chromedp.WaitVisible(`//h1[contains(., "Using retry")]`, chromedp.BySearch))
	tab.Screenshot(t, "guide")
}

// open clicks a button until what it opens is there. At first, a page is HTML, and its scripts do not
// hear a click.
func open(button, opened string) chromedp.Action {
	script := fmt.Sprintf(`(() => {
		if (document.querySelector(%q)) {
			return true
		}
		document.querySelector(%q)?.click()
		return false
	})()`, opened, button)
	return chromedp.Poll(script, nil, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(2*time.Minute))
}
