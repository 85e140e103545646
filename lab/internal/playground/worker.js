// Runs the lab in a worker, so that the page stays responsive. Requests come one at a time.
importScripts("wasm_exec.js")

const ready = (async () => {
  const go = new Go()
  const response = await fetch("lab.bin")
  if (!response.ok) throw new Error("lab.bin: " + response.statusText)
  const body = response.body.pipeThrough(new DecompressionStream("gzip"))
  const program = await WebAssembly.instantiateStreaming(
    new Response(body, { headers: { "Content-Type": "application/wasm" } }), go.importObject)
  go.run(program.instance)
})()

onmessage = async event => {
  try {
    await ready
    postMessage({ id: event.data.id, text: lab(JSON.stringify(event.data.request)) })
  } catch (error) {
    postMessage({ id: event.data.id, text: JSON.stringify({ Error: String(error) }) })
  }
}
