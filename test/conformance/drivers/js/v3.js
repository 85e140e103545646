'use strict';

// The clients of the SDK, version 3.

const { send } = require('./operations.js');

const packages = { dynamodb: 'dynamodb', dynamodbstreams: 'dynamodb-streams', s3: 's3', sqs: 'sqs', sts: 'sts' };
const classes = { dynamodb: 'DynamoDB', dynamodbstreams: 'DynamoDBStreams', s3: 'S3', sqs: 'SQS', sts: 'STS' };

// version returns the names and versions of the client and of the package with the retry code: formerly
// @smithy/util-retry, now @smithy/core.
function version(load) {
  const name = (p) => `${p} ${load(p + '/package.json').version}`;
  let retry = '@smithy/core';
  try {
    load.resolve('@smithy/util-retry');
    retry = '@smithy/util-retry';
  } catch {} // newer versions do not have it
  return `${name('@aws-sdk/client-sts')}, ${name(retry)}`;
}

async function connect(load, { endpoint, mode, timeout }, c, script) {
  const Client = load('@aws-sdk/client-' + packages[c.service])[classes[c.service]];
  const client = new Client({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    forcePathStyle: true,
    retryMode: mode,
    ...(c.setting
      ? evaluate(load, c.setting)
      : { requestHandler: { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true } }),
    ...(c.max_attempts && { maxAttempts: c.max_attempts }),
  });
  const strategy = await client.config.retryStrategy();
  watch(strategy, script);
  if (strategy.rateLimiter) {
    strategy.rateLimiter.getSendToken = async () => {};
  }
  const standard = strategy.standardRetryStrategy ?? strategy; // within an adaptive strategy
  standard.capacity = c.quota ?? standard.capacity;
  return {
    call: () => send(client, c.operation, endpoint),
    quota: () => standard.getCapacity(),
    close: () => client.destroy(),
  };
}

// evaluate returns the part of a client's configuration that a setting is.
function evaluate(load, setting) {
  if (setting.startsWith('AWS_')) {
    const [name, value] = setting.split('=');
    process.env[name] = value;
    return {};
  }
  if (setting.startsWith('new ')) {
    const { NodeHttpHandler } = load('@smithy/node-http-handler');
    return { requestHandler: new Function('NodeHttpHandler', 'return ' + setting)(NodeHttpHandler) };
  }
  return new Function('return {' + setting + '}')();
}

// watch records the delay of a retry and sets the delay to 0. The delay is in the retry's token, or the strategy
// waits before it returns the token. Nothing else in the SDK sets a timer during that time.
function watch(strategy, script) {
  const refresh = strategy.refreshRetryTokenForRetry;
  strategy.refreshRetryTokenForRetry = async function (token, info) {
    const { setTimeout } = globalThis;
    let waited = false;
    globalThis.setTimeout = (resolve, ms) => {
      waited = true;
      script.record(ms);
      return setImmediate(resolve);
    };
    try {
      const next = await refresh.call(this, token, info);
      if (!waited) {
        script.record(next.getRetryDelay());
        next.getRetryDelay = () => 0;
      }
      return next;
    } finally {
      globalThis.setTimeout = setTimeout;
    }
  };
}

module.exports = { version, connect };
