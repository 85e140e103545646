// Answers the vectors with the AWS SDK for JavaScript v3: node run.js FOLDER, in a folder where the SDK is installed.
// FOLDER contains the vectors. README.md describes the output.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { Readable } = require('node:stream');
const load = require('node:module').createRequire(process.cwd() + '/');
const retry = load('@smithy/core/retry');
const { HttpResponse } = load('@smithy/core/protocols');

// The name among the sources of each set that the SDK can answer.
const SOURCES = { 'aws-standard-2026': 'js-v3-standard-2026', 'aws-adaptive-2026': 'js-v3-adaptive-2026' };
const CLIENTS = { dynamodb: 'DynamoDB', dynamodbstreams: 'DynamoDBStreams', s3: 'S3', sqs: 'SQS', sts: 'STS' };
const CODES = {
  reset: 'ECONNRESET', close: 'ECONNRESET', closed: 'ECONNRESET', refused: 'ECONNREFUSED', 'unknown-host': 'ENOTFOUND', 'broken-pipe': 'EPIPE',
  'read-timeout': 'ETIMEDOUT', 'host-unreachable': 'EHOSTUNREACH', 'network-unreachable': 'ENETUNREACH', 'temporary-dns': 'EAI_AGAIN',
  'untrusted-certificate': 'EPROTO', 'expired-certificate': 'CERT_HAS_EXPIRED', hang: 'ETIMEDOUT', garbage: 'HPE_INVALID_CONSTANT',
};
const inexpressible = new Error('the SDK has no equivalent, or this runner does not replace it');
const clock = { now: 0, waits: [] }; // records waits instead of waiting
Date.now = () => clock.now;
globalThis.setTimeout = (f, ms) => {
  clock.waits.push(Number.isNaN(ms) ? 1 : ms); // as timers do
  clock.now += Math.ceil(clock.waits.at(-1) * 1000) / 1000;
  setImmediate(f);
};
retry.DefaultRateLimiter.setTimeoutFn = globalThis.setTimeout;

const script = ([...numbers], then) => (Math.random = () => (numbers.length > 0 ? numbers.shift() : then));
function client(service, settings, respond) {
  if (!CLIENTS[service]) throw inexpressible;
  const Client = load(`@aws-sdk/client-${service === 'dynamodbstreams' ? 'dynamodb-streams' : service}`)[CLIENTS[service]];
  const requestHandler = { handle: async (request) => ({ response: respond(request) }) };
  return new Client({ region: 'us-east-1', credentials: { accessKeyId: 'k', secretAccessKey: 's' }, requestHandler, ...settings });
}

function failure({ failure, wrapped, modeled, code, status, message }) {
  if (failure && !CODES[failure]) throw inexpressible;
  const e = new Error(message ?? 'failed');
  if (failure) Object.assign(e, { code: CODES[failure] });
  else Object.assign(e, { name: code ?? 'Error', $metadata: { httpStatusCode: status }, ...(modeled && { $retryable: modeled }) });
  return wrapped ? new Error('wrapped', { cause: e }) : e;
}
const typeOf = (e) => (retry.isThrottlingError(e) ? 'THROTTLING' : retry.isTransientError(e) ? 'TRANSIENT' : 'OTHER');

async function hint(given) {
  const strategy = await client(given.service, { maxAttempts: 1000 }).config.retryStrategy();
  script([], given.random);
  clock.waits = [];
  const token = { getRetryCount: () => given.attempt - 1, getRetryCost: () => 0, isLongPoll: () => false };
  const hint = retry.getRetryAfterHint(new HttpResponse({ statusCode: given.status, headers: given.headers ?? {} }));
  const info = { errorType: typeOf(failure(given)), retryAfterHint: hint };
  await strategy.refreshRetryTokenForRetry(token, info).catch(() => {}); // refuses what it does not retry
  if (clock.waits.length === 0) throw inexpressible;
  return { wait_ms: clock.waits[0] };
}

function delay(given) {
  return hint({ ...given, ...(given.class === 'throttled' ? { status: 400, code: 'Throttling' } : { status: 500 }) });
}

const classify = (given) => ({ class: { THROTTLING: 'throttled', TRANSIENT: 'transient', OTHER: 'permanent' }[typeOf(failure(given))] });

async function quota(given) {
  if (given.capacity !== 500) throw inexpressible; // the largest balance cannot be changed
  const strategy = new retry.StandardRetryStrategy(1000);
  strategy.capacity = given.tokens;
  const after = [];
  let token = await strategy.acquireInitialRetryToken('');
  for (const event of given.events) {
    const step = {};
    if (event.retry) {
      const refreshed = await strategy.refreshRetryTokenForRetry(token, { errorType: event.retry === 'throttled' ? 'THROTTLING' : 'TRANSIENT' }).catch(() => null);
      step.granted = refreshed !== null;
      token = refreshed ?? token;
    } else {
      if (event.end === 'success') strategy.recordSuccess(token);
      token = await strategy.acquireInitialRetryToken('');
    }
    after.push({ ...step, tokens: strategy.capacity });
  }
  return { after };
}

async function limiter(given) {
  clock.now = given.start_s * 1000;
  const limit = new retry.DefaultRateLimiter();
  const answer = { waits_ms: [], rates: [] };
  for (const { after_s: after, event } of given.events) {
    [clock.now, clock.waits] = [clock.now + after * 1000, []];
    if (event === 'send') {
      await limit.getSendToken();
      answer.waits_ms.push(clock.waits.reduce((sum, ms) => sum + ms, 0));
    } else {
      limit.updateClientSendingRate(event === 'throttled' ? { errorType: 'THROTTLING' } : {});
      answer.rates.push(limit.enabled ? limit.fillRate : null);
    }
  }
  return answer;
}

async function trace(given) {
  if (given.tls || given.calls.some((c) => c.responses.some((r) => r.fault === 'truncate'))) throw inexpressible;
  let responses, sent;
  const respond = () => {
    const r = responses[Math.min(sent++, responses.length - 1)];
    if (r.fault) throw failure({ failure: r.fault });
    const [type, error, ok] = FORMATS[given.service] ?? FORMATS.json;
    const body = r.status < 300 ? ok : r.code ? error.replace('%', r.code).replace('@', sent) : '';
    return new HttpResponse({ statusCode: r.status, headers: { 'content-type': type, ...r.headers }, body: Readable.from([Buffer.from(body)]) });
  };
  const sdk = client(given.service, given.max_attempts ? { maxAttempts: given.max_attempts } : {}, respond);
  const strategy = await sdk.config.retryStrategy();
  strategy.capacity = given.quota ?? strategy.capacity;
  script(given.random ?? [], given.random_then);
  const calls = [];
  for (const call of given.calls) {
    [responses, sent, clock.waits] = [call.responses, 0, []];
    const input = { GetObject: { Bucket: 'bucket', Key: 'key' }, ReceiveMessage: { QueueUrl: 'https://sqs.us-east-1.amazonaws.com/1/q' } };
    const text = await sdk[given.operation[0].toLowerCase() + given.operation.slice(1)](input[given.operation] ?? {}).then(() => null, (e) => String(e.message));
    const reported = text?.match(/scripted response (\d+)/);
    calls.push({ attempts: sent, waits_ms: clock.waits, ok: text === null, ...(reported && { reported: Number(reported[1]) }), tokens: strategy.capacity });
  }
  return { calls };
}
const XML = ['text/xml', '<ErrorResponse><Error><Code>%</Code><Message>scripted response @</Message></Error></ErrorResponse>', '<GetCallerIdentityResponse><GetCallerIdentityResult/></GetCallerIdentityResponse>'];
const FORMATS = {
  sts: XML, s3: ['application/xml', '<Error><Code>%</Code><Message>scripted response @</Message></Error>', ''],
  json: ['application/x-amz-json-1.0', '{"__type":"com.amazonaws.service#%","message":"scripted response @"}', '{}'],
};

async function main(folder) {
  const version = (name) => `${name} ${load(name + '/package.json').version}`;
  console.log(JSON.stringify({ implementation: `${version('@aws-sdk/client-sts')}, ${version('@smithy/core')}` }));
  for (const [kind, answer] of Object.entries({ delay, hint, classify, quota, limiter, trace })) {
    for (const file of fs.readdirSync(path.join(folder, kind))) {
      const { set, cases } = JSON.parse(fs.readFileSync(path.join(folder, kind, file)));
      for (const c of SOURCES[set] ? cases : []) {
        clock.now = 1793620800000;
        try {
          console.log(JSON.stringify({ set: `${kind}/${set}`, source: SOURCES[set], id: c.id, answer: await answer(c.given) }));
        } catch (e) {
          if (e !== inexpressible) throw e;
        }
      }
    }
  }
}

main(process.argv[2]);
