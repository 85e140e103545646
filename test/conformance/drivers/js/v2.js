'use strict';

// The clients of aws-sdk, version 2.

const { send } = require('./operations.js');

const classes = { dynamodb: 'DynamoDB', dynamodbstreams: 'DynamoDBStreams', s3: 'S3', sqs: 'SQS', sts: 'STS' };

function version(load) {
  return 'aws-sdk ' + load('aws-sdk/package.json').version;
}

async function connect(load, { endpoint, timeout }, c, script) {
  const AWS = load('aws-sdk');
  const client = new AWS[classes[c.service]]({
    endpoint,
    region: 'us-east-1',
    credentials: new AWS.Credentials('key', 'secret'),
    s3ForcePathStyle: true,
    ...(c.setting
      ? new Function('f', 'return {' + c.setting + '}')((n) => (n === 2 ? -1 : 50))
      : { httpOptions: { timeout, connectTimeout: timeout } }),
    ...(c.max_attempts && { maxRetries: c.max_attempts - 1 }),
  });
  return {
    call: () => watch(send(client, c.operation, endpoint), script).promise(),
    quota: () => null,
    close: () => {},
  };
}

// watch records the delay of an error that will be retried and sets the delay to 0, once the SDK's listeners have
// decided whether to retry. The SDK waits in the next event, under the same condition.
function watch(request, script) {
  return request.on('retry', ({ error, retryCount, maxRetries }) => {
    if (error?.retryable && retryCount < maxRetries && !(error.retryDelay < 0)) {
      script.record(error.retryDelay);
      error.retryDelay = 0;
    }
  });
}

module.exports = { version, connect };
