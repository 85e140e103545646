// Package retrybatch sends items in batches to a server that may accept a part of each.
//
//	batch := retrybatch.Batch[Item]{MaxItems: 25}
//	failed, err := retrybatch.Do(ctx, batch, items, func(ctx context.Context, items []Item) (map[int]error, error) {
//		return store(ctx, items) // the error of each item that was not accepted
//	})
//
// Use it for DynamoDB's BatchWriteItem, SQS's SendMessageBatch, Kinesis's PutRecords,
// Elasticsearch's _bulk and their like. [Do] sends again what was not accepted, and only
// that. Its waits grow until a call is accepted completely, because a server that accepts 5
// of 25 items is throttling.
//
// Each item has one [Fate], and the result lists the items that were not accepted. An item
// that was accepted is never sent again. If the outcome of a call is unknown, for example
// because its response was lost, an item is sent again only if [Batch.MayRepeat] allows it.
//
// docs/batches.md in the repository has the code for these servers.
package retrybatch
