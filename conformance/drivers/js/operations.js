'use strict';

// send calls an operation on a client of either version: a request of version 2, a promise of version 3.
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
