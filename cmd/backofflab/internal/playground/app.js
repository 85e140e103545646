// The page of the playground: sends the input to a worker, and shows the responses.
"use strict"
const form = document.querySelector("form")
const defaults = {
  policy: "full base=100ms cap=20s attempts=4 budget=throttle", clients: "40",
  rate: "700", capacity: "1000", outage: "stall", seconds: "2", failures: "0.01", gate: "", contention: "",
}

// The program is compiled once, for all workers.
const program = (async () => {
  const response = await fetch("lab.bin")
  if (!response.ok) throw new Error("lab.bin: " + response.statusText)
  const body = response.body.pipeThrough(new DecompressionStream("gzip"))
  return WebAssembly.compileStreaming(new Response(body, { headers: { "Content-Type": "application/wasm" } }))
})()

let worker = new Worker("worker.js")
let end = () => {} // ends a simulation, during which the worker reads no message

// ask returns the worker's response. There is one request at a time.
async function ask(program, request) {
  const patience = request.What === "advice" ? 120 : 30 // seconds
  let late
  const response = await new Promise(resolve => {
    end = error => {
      worker.terminate()
      worker = new Worker("worker.js")
      resolve({ Error: error })
    }
    late = setTimeout(() => end(`This takes more than ${patience} seconds. The command backofflab has no such limit.`), patience * 1000)
    worker.onmessage = event => event.data.error ? end(event.data.error) : resolve(JSON.parse(event.data.text))
    worker.onerror = event => end(event.message)
    worker.postMessage({ program, request })
  })
  clearTimeout(late)
  end = () => {}
  return response
}

const valueOf = input => input.type === "checkbox" ? (input.checked ? "yes" : "") : input.value

function state() {
  return Object.fromEntries(Object.keys(defaults).map(name => [name, valueOf(form.elements[name])]))
}

// load fills the form from the link.
function load() {
  const link = new URLSearchParams(location.hash.slice(1))
  for (const [name, value] of Object.entries(defaults)) {
    const input = form.elements[name], text = link.get(name) ?? value
    if (input.type === "checkbox") input.checked = text !== ""
    else input.value = text
  }
}

function show(section, response) {
  section.classList.remove("busy")
  if (response.Error) {
    const p = document.createElement("p")
    p.className = "error"
    p.setAttribute("role", "alert")
    p.textContent = response.Error
    section.replaceChildren(p)
    return
  }
  if (response.Own) charts.highlight(response.Own)
  section.innerHTML = response.HTML // the lab escapes it
  section.querySelectorAll(".chart").forEach((box, i) => charts.draw(box, response.Pictures[i]))
}

function query(section, s) {
  return {
    What: section.id, Policy: s.policy, Clients: Number(s.clients), Rate: Number(s.rate), Capacity: Number(s.capacity),
    Outage: s.outage, Seconds: Number(s.seconds), Failures: Number(s.failures), Gate: s.gate !== "",
  }
}

// update simulates what the form describes. If the form changes meanwhile, the next update
// ends this one. The advice comes last, because it takes the longest, and remains until the
// system changes.
let version = 0, advised
async function update() {
  const mine = ++version, s = state(), system = JSON.stringify([s.rate, s.capacity, s.failures, s.gate])
  const sections = [...document.querySelectorAll("section")].filter(section => section.id !== "advice" || advised !== system)
  end("changed")
  for (const section of sections) section.classList.add("busy")
  for (const section of sections) {
    if (section.id === "advice") document.documentElement.dataset.done = String(mine)
    let response = { HTML: "" }
    if (section.id !== "contention" || s.contention) {
      response = await program.then(p => mine === version && ask(p, query(section, s)), error => ({ Error: "The lab cannot run: " + error.message }))
    }
    if (mine !== version) return
    show(section, response)
    if (section.id === "advice" && !response.Error) advised = system
    performance.mark(section.id)
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
