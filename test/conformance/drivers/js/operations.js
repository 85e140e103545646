'use strict';

// send calls an operation. With a version 2 client, it returns a request; with a version 3 client, a promise.
function send(client, operation, endpoint) {
  switch (operation) {
    case 'GetObject':
      return client.getObject({ Bucket: 'bucket', Key: 'key' });
    case 'ReceiveMessage':
      return client.receiveMessage({ QueueUrl: endpoint + '/1/q' });
    default:
      return client[operation[0].toLowerCase() + operation.slice(1)]({});
  }
}

module.exports = { send };
