package labpage

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/test/published/browser"
)

const own = "full base=100ms cap=20s attempts=4 budget=throttle"

func backofflab(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "."}, args...)...)
	cmd.Dir = lab
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// The report is complete and readable on screens, phones and paper, in light and dark mode.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	browser.New(t, 1200, "light", "about:") // without Chromium, skips the test before the simulation
	file := filepath.Join(t.TempDir(), "report.html")
	backofflab(t, "report", "-quiet", "-trials", "1", "-html", file, "-policy", own,
		"-contention", "-rate", "70", "-capacity", "100", "-queue", "2000", "-processes", "10", "-from", "20s", "-to", "22s", "-horizon", "90s")
	for _, width := range []int64{1200, 400} {
		for _, scheme := range []string{"light", "dark"} {
			name := fmt.Sprintf("report-%d-%s", width, scheme)
			t.Run(name, func(t *testing.T) {
				p := browser.New(t, width, scheme, "file://")
				open(t, p, "file://"+file)
				p.Screenshot(t, name)
				checkReport(t, p)
				checkInteraction(t, p, 0, 1, "none (no retry)")
			})
		}
	}
	t.Run("on paper", func(t *testing.T) {
		p := browser.New(t, 1200, "dark", "file://")
		open(t, p, "file://"+file)
		p.Run(t, chromedp.Evaluate(`addEventListener("beforeprint", () => { window.printed = boxes().map(b => b.querySelector("svg").clientWidth) })`, nil))
		var pdf []byte
		p.Run(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
			pdf, _, err = page.PrintToPDF().Do(ctx)
			return err
		}))
		assert.Equal(t, "%PDF", string(pdf[:4]))
		for _, width := range browser.Eval[[]int](t, p, `window.printed`) {
			assert.Equal(t, 660, width, "the width of a picture on paper")
		}
		browser.Save(t, "report.pdf", pdf)
	})
}

func checkReport(t *testing.T, p *browser.Tab) {
	assert.Equal(t, own, browser.Eval[string](t, p, `document.querySelector(".verdict code").textContent`), "the verdict is on top")
	assert.Less(t, browser.Eval[float64](t, p, `document.querySelector("tbody tr:nth-child(3)").getBoundingClientRect().bottom`), 900.0,
		"the verdict, no retry and the zero policy are on the first screen")
	assert.Equal(t, 2+2, browser.Eval[int](t, p, `boxes().filter(b => b.querySelector("svg path")).length`), "every picture")
	checkFits(t, p)
	for name, colors := range browser.Eval[map[string][]string](t, p, `looks()`) {
		assert.Len(t, colors, 1, "%s has one color in all pictures", name)
	}
	highlighted := browser.Eval[int](t, p, `boxes().filter(b => [...b.querySelectorAll("svg text")].some(e => e.textContent.startsWith("▶"))).length`)
	assert.Equal(t, 4, highlighted, "every picture highlights the user's policy")
	checkAdvice(t, p)
	first := browser.Eval[[]float64](t, p, `range(0)`)
	assert.LessOrEqual(t, first[0], 20.0)
	assert.Less(t, first[1]-first[0], 75.0, "at first, the picture shows only the decisive seconds")
	link := browser.Eval[string](t, p, `document.querySelector("a[download='storm-seconds.csv']").href`)
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(link, "data:text/csv;base64,"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(data), "policy,second,attempts,successes\n"), "the page contains the data")
	assert.True(t, strings.Contains(string(data), "\n"+own+",0,"))
}

// checkAdvice checks that the page ends with the policy that advise chooses, and why.
func checkAdvice(t *testing.T, p *browser.Tab) {
	t.Helper()
	assert.Regexp(t, ` attempts=\d`, browser.Eval[string](t, p, `[...document.querySelectorAll("section")].at(-1).querySelector(".headline").textContent`))
	assert.Regexp(t, `^In \d+ outages .* of the calls succeed, .* without retries`, browser.Eval[string](t, p, `[...document.querySelectorAll("section p")].at(-1).textContent`))
}

// checkFits checks that nothing is cut, overlaps or is too pale to read.
func checkFits(t *testing.T, p *browser.Tab) {
	t.Helper()
	assert.False(t, browser.Eval[bool](t, p, `document.documentElement.scrollWidth > innerWidth`), "the page does not scroll sideways")
	assert.Empty(t, browser.Eval[[]string](t, p, `cut()`))
	assert.Empty(t, browser.Eval[[]string](t, p, `overlapping()`))
	assert.Empty(t, browser.Eval[[]string](t, p, `pale()`))
}

// checkInteraction points at picture i, switches a line off and on, and zooms. It checks that
// the picture next to it hides the same line and zooms in the same way.
func checkInteraction(t *testing.T, p *browser.Tab, i, beside int, name string) {
	move := func(kind input.MouseType, at []float64) chromedp.Action {
		return chromedp.MouseEvent(kind, at[0], at[1], chromedp.ButtonLeft)
	}
	at := browser.Eval[[]float64](t, p, fmt.Sprintf(`inside(%d, 0.5, 200)`, i))
	p.Run(t, chromedp.MouseEvent(input.MouseMoved, at[0], at[1]), chromedp.Poll(
		fmt.Sprintf(`[...boxes()[%d].querySelectorAll(".tip")].some(e => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && e.textContent.includes("budget=throttle"))`, i), nil, chromedp.WithPollingTimeout(0)))

	selected := func(i int) bool {
		return browser.Eval[bool](t, p, fmt.Sprintf(`plot(%d).getOption().legend[0].selected[%q] !== false`, i, name))
	}
	at = browser.Eval[[]float64](t, p, fmt.Sprintf(`place(%d, %q)`, i, name))
	p.Run(t, chromedp.MouseClickXY(at[0], at[1]))
	assert.False(t, selected(i), "switched off")
	assert.False(t, selected(beside), "switched off in the picture beside it, too")
	p.Run(t, chromedp.MouseClickXY(at[0], at[1]))
	assert.True(t, selected(i), "switched on again")

	before := browser.Eval[[]float64](t, p, fmt.Sprintf(`range(%d)`, i))
	at = browser.Eval[[]float64](t, p, fmt.Sprintf(`handle(%d)`, i))
	p.Run(t, chromedp.MouseEvent(input.MouseMoved, at[0], at[1]), move(input.MousePressed, at),
		move(input.MouseMoved, []float64{at[0] - 10, at[1]}), move(input.MouseMoved, []float64{at[0] - 25, at[1]}),
		move(input.MouseReleased, []float64{at[0] - 25, at[1]}))
	after := browser.Eval[[]float64](t, p, fmt.Sprintf(`range(%d)`, i))
	assert.Equal(t, before[0], after[0])
	assert.Less(t, after[1], before[1], "zoomed by the handle")
	assert.Equal(t, after, browser.Eval[[]float64](t, p, fmt.Sprintf(`range(%d)`, beside)), "the picture beside it zooms, too")

	at = browser.Eval[[]float64](t, p, fmt.Sprintf(`inside(%d, 0.5, 200)`, i))
	p.Run(t, input.DispatchMouseEvent(input.MouseWheel, at[0], at[1]).WithDeltaX(0).WithDeltaY(-300).WithModifiers(input.ModifierCtrl))
	closer := fmt.Sprintf(`range(%d)[1] - range(%d)[0] < %v`, i, i, after[1]-after[0])
	p.Run(t, chromedp.Poll(closer, nil, chromedp.WithPollingTimeout(0)))
}

func TestPlayground(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for the browser")
	}
	browser.New(t, 1200, "light", "about:")
	folder := t.TempDir()
	backofflab(t, "playground", folder)
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	for _, width := range []int64{1200, 400} {
		for _, scheme := range []string{"light", "dark"} {
			name := fmt.Sprintf("playground-%d-%s", width, scheme)
			t.Run(name, func(t *testing.T) {
				p := browser.New(t, width, scheme, server.URL)
				open(t, p, server.URL)
				t.Logf("the storm after %.0f ms",
					browser.Eval[float64](t, p, `performance.getEntriesByName("storm")[0].startTime`))
				p.Screenshot(t, name)
				assert.Equal(t, 2, browser.Eval[int](t, p, `boxes().filter(b => b.querySelector("svg path")).length`))
				checkFits(t, p)
				checkInteraction(t, p, 0, 1, "none (no retry)")
				checkForm(t, p, name)
			})
		}
	}
	t.Run("advice", func(t *testing.T) {
		p := browser.New(t, 400, "light", server.URL)
		open(t, p, server.URL)
		p.Run(t, chromedp.WaitVisible("#advice .headline", chromedp.ByQuery))
		checkAdvice(t, p)
		checkFits(t, p)
		p.Screenshot(t, "playground-400-advice")
	})
}

// checkForm changes the form, and checks what the page shows.
func checkForm(t *testing.T, p *browser.Tab, name string) {
	t.Helper()
	input := chromedp.Evaluate(`document.querySelector("form").dispatchEvent(new Event("input"))`, nil)
	shown := func(condition string) chromedp.Action {
		return chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(0))
	}
	// A simulation that takes long ends when the input changes.
	p.Run(t, chromedp.SetValue(`[name=policy]`, "no-delay attempts=unlimited", chromedp.ByQuery), input, shown(`location.hash.includes("unlimited")`))
	const typed = "constant delay=50ms attempts=3 budget=throttle"
	p.Run(t, chromedp.SetValue(`[name=policy]`, typed, chromedp.ByQuery),
		chromedp.Evaluate(`form.elements.contention.checked = form.elements.gate.checked = true`, nil), input,
		shown(`location.hash.includes("constant") && document.documentElement.dataset.done === String(version)`))
	assert.Contains(t, browser.Eval[string](t, p, `location.hash`), "gate=yes")
	assert.Equal(t, "▶ "+typed, browser.Eval[string](t, p, `document.querySelector("#storm tbody tr:last-child th").textContent`))
	assert.Contains(t, browser.Eval[string](t, p, `document.querySelector("#storm .lead").textContent`), "admission gate")
	assert.Contains(t, browser.Eval[string](t, p, `document.querySelector("#contention .bad").textContent`), "give up")
	assert.Equal(t, 2+2, browser.Eval[int](t, p, `boxes().filter(b => b.querySelector("svg path")).length`))
	p.Screenshot(t, name+"-contention")
	checkFits(t, p)
	p.Run(t, chromedp.SetValue(`[name=policy]`, "ful base=1s", chromedp.ByQuery), input, shown(`document.querySelector("#waits .error")`))
	assert.Contains(t, browser.Eval[string](t, p, `document.querySelector("#waits .error").textContent`), `unknown name "ful"`)
}
