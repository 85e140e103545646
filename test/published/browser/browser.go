// Package browser has a tab of headless Chromium, for tests of pages.
package browser

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages into this `folder`")

// A Tab is a tab of a browser, and the errors that it has reported.
type Tab struct {
	context.Context
	mu       sync.Mutex
	problems []string
}

// New starts Chromium, or skips the test if it is missing. The tab is width pixels wide and prefers
// the color scheme light or dark. The test fails if the tab requests an address that has none of the
// prefixes, or if a script of the page fails.
func New(t *testing.T, width int64, scheme string, prefixes ...string) *Tab {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("no Chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), // every run has a new profile
		chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(stop)
	page := &Tab{Context: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		problem := ""
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			problem = e.ExceptionDetails.Error()
		case *log.EventEntryAdded:
			problem = e.Entry.Text
		case *network.EventRequestWillBeSent:
			for _, prefix := range append(prefixes, "data:", "blob:") {
				if strings.HasPrefix(e.Request.URL, prefix) {
					return
				}
			}
			problem = "requests " + e.Request.URL
		}
		if problem != "" {
			page.mu.Lock()
			page.problems = append(page.problems, problem)
			page.mu.Unlock()
		}
	})
	page.Run(t, network.Enable(), log.Enable(), chromedp.EmulateViewport(width, 900),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
	t.Cleanup(func() {
		page.mu.Lock()
		defer page.mu.Unlock()
		assert.Empty(t, page.problems)
	})
	return page
}

// Run takes actions in the tab.
func (p *Tab) Run(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	require.NoError(t, chromedp.Run(p, actions...))
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](t *testing.T, p *Tab, expression string) (value T) {
	t.Helper()
	p.Run(t, chromedp.Evaluate(expression, &value))
	return value
}

// Screenshot writes a picture of the page, if the flag -screenshots is set.
func (p *Tab) Screenshot(t *testing.T, name string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	var picture []byte
	p.Run(t, chromedp.FullScreenshot(&picture, 100))
	Save(t, name+".png", picture)
}

// Save writes a file into the folder of the flag -screenshots, if it is set.
func Save(t *testing.T, name string, data []byte) {
	t.Helper()
	if *screenshots != "" {
		require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name), data, 0o666))
	}
}
