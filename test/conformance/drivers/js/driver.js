'use strict';

// Runs the cases from standard input, as described in PROTOCOL.md, with the packages in the folder given as an argument.

const fs = require('node:fs');
const http = require('node:http');
const { createRequire } = require('node:module');
const path = require('node:path');

const { Script } = require('./script.js');

const TIMEOUT_MS = 1000; // for one response

async function main(folder) {
  const input = JSON.parse(fs.readFileSync(0, 'utf8'));
  const sdk = require(folder.endsWith('js-v2') ? './v2.js' : './v3.js');
  const load = createRequire(path.join(folder, 'package.json'));
  const settings = {
    mode: input.mode.includes('adaptive') ? 'adaptive' : 'standard',
    timeout: TIMEOUT_MS,
  };
  const script = new Script();
  script.install();
  const cases = [];
  for (const c of input.cases) {
    script.begin(c.random ?? [], c.random_then);
    const client = await sdk.connect(load, { ...settings, endpoint: c.endpoint ?? input.endpoint }, c, script);
    cases.push({ name: c.name, calls: await play(client, input.endpoint, c, script) });
    client.close();
  }
  process.stdout.write(JSON.stringify({ sdk: sdk.version(load), modules: modules(folder), unit: 'ms', cases }));
}

// modules returns the names and versions of the clients and of the packages with the retry code.
function modules(folder) {
  const { packages } = JSON.parse(fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8'));
  const names = Object.keys(packages).map((key) => key.replace('node_modules/', ''));
  const shown = names.filter((name) => /^(aws-sdk|@aws-sdk\/client-.*|@smithy\/(core|util-retry|middleware-retry))$/.test(name));
  return shown.map((name) => `${name} ${packages['node_modules/' + name].version}`);
}

async function play(client, endpoint, c, script) {
  const observed = [];
  for (const call of c.calls) {
    script.delays = [];
    await control(endpoint, 'PUT', JSON.stringify(call));
    const error = await within(10 * TIMEOUT_MS, client.call()).then(() => '', (e) => `${e.code ?? e.name}: ${e.message}`);
    const { requests } = JSON.parse(await control(endpoint, 'GET'));
    observed.push({ attempts: requests, delays: script.delays, ok: !error, error, quota: client.quota() });
  }
  return observed;
}

// The function within rejects calls that the SDK never ends.
function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('no end')), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function control(endpoint, method, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(endpoint + '/__script', { method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error('the server: ' + text))));
    });
    request.on('error', reject);
    request.end(body);
  });
}

main(process.argv[2]).catch((e) => {
  console.error(e);
  process.exit(1);
});
