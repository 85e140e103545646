// The page of the playground: sends the input to the worker, and shows the responses.
"use strict"
const form = document.querySelector("form")
const sections = ["waits", "contention", "storm"]
const defaults = {
  policy: "full base=100ms cap=20s attempts=4 budget=throttle", clients: "40",
  rate: "70", capacity: "100", outage: "stall", seconds: "2", failures: "0",
}
const waiting = new Map()
let last = 0

worker.onmessage = event => {
  waiting.get(event.data.id)(JSON.parse(event.data.text))
  waiting.delete(event.data.id)
}
worker.onerror = event => {
  for (const name of sections) show(document.getElementById(name), { Error: "The lab cannot run: " + event.message })
}

function ask(request) {
  return new Promise(resolve => {
    waiting.set(++last, resolve)
    worker.postMessage({ id: last, request })
  })
}

function state() {
  return Object.fromEntries(Object.keys(defaults).map(name => [name, form.elements[name].value]))
}

// load fills the form from the link.
function load() {
  const link = new URLSearchParams(location.hash.slice(1))
  for (const [name, value] of Object.entries(defaults)) form.elements[name].value = link.get(name) ?? value
}

function element(name, text) {
  const e = document.createElement(name)
  if (text !== undefined) e.textContent = text
  return e
}

function table(data) {
  const t = element("table")
  const head = t.createTHead().insertRow()
  for (const text of data.Headers) head.append(element("th", text))
  const body = t.createTBody()
  for (const row of data.Rows) {
    const tr = body.insertRow()
    for (const text of row) tr.insertCell().textContent = text
  }
  return wide(t)
}

function wide(content) {
  const div = element("div")
  div.className = "wide"
  div.tabIndex = 0
  div.append(content)
  return div
}

function figure(picture) {
  const box = element("div")
  box.className = "chart"
  box.setAttribute("role", "img")
  box.setAttribute("aria-label", picture.Caption)
  const f = element("figure")
  f.append(box, element("figcaption", picture.Caption))
  return f
}

function verdict(finding) {
  const div = element("div")
  div.className = finding.Bad ? "verdict bad" : "verdict"
  const headline = element("p", finding.Headline)
  headline.className = "headline"
  div.append(headline, element("p", finding.Text))
  return div
}

function show(section, response) {
  section.classList.remove("busy")
  if (response.Error) {
    const p = element("p", response.Error)
    p.className = "error"
    p.setAttribute("role", "alert")
    section.replaceChildren(p)
    return
  }
  charts.highlight(response.Own)
  const pictures = response.Pictures ?? []
  const figures = pictures.map(figure)
  const parts = [element("h2", response.Section.Heading), ...(response.Section.Findings ?? []).map(verdict), ...figures]
  if (response.Section.Table) parts.push(table(response.Section.Table))
  parts.push(...response.Section.Text.split("\n\n").map(text => element("p", text)))
  section.replaceChildren(...parts)
  figures.forEach((f, i) => {
    const picture = pictures[i].Picture
    charts.draw(f.firstChild, picture, picture.kind === "lines" ? section.id : undefined)
  })
}

// update simulates what the form describes, and stops if the form changes meanwhile.
let version = 0
async function update() {
  const mine = ++version
  const s = state()
  for (const name of sections) document.getElementById(name).classList.add("busy")
  for (const name of sections) {
    const response = await ask({
      What: name, Policy: s.policy, Clients: Number(s.clients), Rate: Number(s.rate), Capacity: Number(s.capacity),
      Outage: s.outage, Seconds: Number(s.seconds), Failures: Number(s.failures),
    })
    if (mine !== version) return
    show(document.getElementById(name), response)
    performance.mark(name)
  }
  document.documentElement.dataset.done = String(mine)
}

let timer
form.addEventListener("input", () => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    history.replaceState(null, "", "#" + new URLSearchParams(state()))
    update()
  }, 300)
})
form.addEventListener("submit", event => event.preventDefault())
addEventListener("hashchange", () => { load(); update() })
load()
update()
