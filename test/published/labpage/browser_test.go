package labpage

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gobackoff/retry/test/published/browser"
)

const lab = "../../../cmd/backofflab"

// open waits until the page is drawn.
func open(t *testing.T, p *browser.Tab, address string) {
	t.Helper()
	p.Run(t, chromedp.Navigate(address), chromedp.WaitReady("html[data-done]", chromedp.ByQuery), chromedp.Evaluate(helpers, nil))
}

const helpers = `
const boxes = () => [...document.querySelectorAll(".chart")]
const plot = i => echarts.getInstanceByDom(boxes()[i])
const range = i => { const z = plot(i).getOption().dataZoom[0]; return [z.startValue, z.endValue] }

// looks returns the colors of each name in all pictures.
function looks() {
  const all = {}
  boxes().forEach((_, i) => plot(i).getOption().series.forEach(s => {
    if (s.name && s.itemStyle?.color) all[s.name] = [...new Set([...all[s.name] ?? [], s.itemStyle.color])]
  }))
  return all
}

function luminance(color) {
  const [r, g, b] = color.match(/[\d.]+/g).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (x + 0.05) / (y + 0.05)
}

function behind(e) {
  for (; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor
    if (!/, 0\)$|transparent/.test(color)) return color
  }
  return "rgb(255, 255, 255)"
}

// cut lists what is wider than the element around it.
function cut() {
  const wide = [...document.querySelectorAll(".wide, th, td, .verdict, main, form, label")].filter(e => e.scrollWidth > e.clientWidth + 1)
  const svg = boxes().filter(b => b.querySelector("svg").clientWidth > b.clientWidth)
  const text = boxes().flatMap(b => [...b.querySelectorAll("svg text")].filter(e => {
    const r = e.getBoundingClientRect(), box = b.getBoundingClientRect()
    return r.left < box.left - 1 || r.right > box.right + 1 || r.bottom > box.bottom + 1
  }))
  return [...wide, ...svg, ...text].map(e => e.className + " " + e.textContent)
}

// overlapping lists pairs of texts of one picture that cover each other.
function overlapping() {
  const found = []
  for (const box of boxes()) {
    const texts = [...box.querySelectorAll("svg text")].filter(e => e.textContent.trim())
    texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
      const x = a.getBoundingClientRect(), y = b.getBoundingClientRect()
      const wide = Math.min(x.right, y.right) - Math.max(x.left, y.left), high = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top)
      if (wide > 2 && high > 4) found.push(a.textContent + " | " + b.textContent)
    }))
  }
  return found
}

// pale lists the texts with a contrast below 4.5.
function pale() {
  const found = []
  for (const e of document.querySelectorAll("h1, h2, p, li, th, td, figcaption, code, a, dt, dd, label, input, .headline")) {
    if (contrast(getComputedStyle(e).color, behind(e)) < 4.5) found.push(e.textContent)
  }
  for (const e of document.querySelectorAll("svg text")) {
    if (contrast(getComputedStyle(e).fill, behind(document.body)) < 4.5) found.push(e.textContent)
  }
  return found
}

// place returns the position of a text in a picture.
function place(i, text) {
  const e = [...boxes()[i].querySelectorAll("svg text")].find(e => e.textContent === text)
  e.scrollIntoView({ block: "center" })
  const r = e.getBoundingClientRect()
  return [r.x + r.width / 2, r.y + r.height / 2]
}

// inside returns a position in a picture: x is a fraction of its width, y is in pixels.
function inside(i, x, y) {
  boxes()[i].scrollIntoView({ block: "center" })
  const r = boxes()[i].getBoundingClientRect()
  return [r.x + x * r.width, r.y + y]
}

// handle returns the position of the slider's right handle.
function handle(i) {
  boxes()[i].scrollIntoView({ block: "center" })
  const z = plot(i).getOption().dataZoom[1], r = boxes()[i].getBoundingClientRect()
  return [r.x + 30 + (r.width - 60) * z.end / 100, r.bottom - z.bottom - 11]
}
`
