// The lab runs here, so that the page stays responsive. Requests come one at a time.
importScripts("wasm_exec.js")

const ready = (async () => {
  const go = new Go()
  const response = fetch("lab.wasm")
  let program
  try {
    program = await WebAssembly.instantiateStreaming(response.then(r => r.clone()), go.importObject)
  } catch {
    // A server that does not know the type of .wasm files.
    program = await WebAssembly.instantiate(await (await response).arrayBuffer(), go.importObject)
  }
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
