'use strict';

// The clients of the SDK, version 3.

const { send } = require('./operations.js');

const packages = { dynamodb: 'dynamodb', dynamodbstreams: 'dynamodb-streams', s3: 's3', sqs: 'sqs', sts: 'sts' };
const classes = { dynamodb: 'DynamoDB', dynamodbstreams: 'DynamoDBStreams', s3: 'S3', sqs: 'SQS', sts: 'STS' };

// version names the client, and the package that has the retry code: @smithy/util-retry once, @smithy/core now.
function version(load) {
  const name = (p) => `${p} ${load(p + '/package.json').version}`;
  let retry = '@smithy/core';
  try {
    load.resolve('@smithy/util-retry');
    retry = '@smithy/util-retry';
  } catch {} // it is not there any more
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
    requestHandler: { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true },
    ...(c.max_attempts && { maxAttempts: c.max_attempts }),
  });
  const strategy = await client.config.retryStrategy();
  watch(strategy, script);
  if (strategy.rateLimiter) {
    strategy.rateLimiter.getSendToken = async () => {};
  }
  const standard = strategy.standardRetryStrategy ?? strategy; // of an adaptive one
  standard.capacity = c.quota ?? standard.capacity;
  return {
    call: () => send(client, c.operation, endpoint),
    quota: () => standard.getCapacity(),
    close: () => client.destroy(),
  };
}

// watch records the delay of a retry and takes it away. It is in the token of the retry, or has been waited for when
// that is there. Meanwhile nothing else of the SDK sets a timer.
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
