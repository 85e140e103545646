// Runs the lab, so that the page stays responsive. Each message has a request and the compiled
// program, which the first one starts.
importScripts("wasm_exec.js")

let ready

onmessage = async event => {
  try {
    const go = new Go()
    ready ??= WebAssembly.instantiate(event.data.program, go.importObject).then(instance => { go.run(instance) })
    await ready
    postMessage({ text: lab(JSON.stringify(event.data.request)) })
  } catch (error) {
    postMessage({ error: String(error) })
  }
}
