"use strict"
const form = document.querySelector("form")
const sections = ["waits", "contention", "storm"]
const defaults = {
  policy: "full base=100ms cap=20s attempts=4 budget=throttle", clients: "40",
  rate: "70", capacity: "100", outage: "stall", seconds: "2", failures: "0",
}
const worker = new Worker("worker.js")
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
  const svg = new DOMParser().parseFromString(picture.SVG, "image/svg+xml").documentElement
  const f = element("figure")
  f.append(wide(document.importNode(svg, true)), element("figcaption", picture.Caption))
  return f
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
  const parts = [element("h2", response.Section.Heading)]
  if (response.Section.Table) parts.push(table(response.Section.Table))
  parts.push(...(response.Pictures ?? []).map(figure))
  for (const text of response.Section.Text.split("\n\n")) {
    const p = element("p", text)
    p.className = "text"
    parts.push(p)
  }
  section.replaceChildren(...parts)
}

// update simulates what the form says, unless it changes meanwhile.
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
