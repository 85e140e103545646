package partly

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrykeep"
)

var policy = retry.Policy{MaxAttempts: 3}

// sender is a part of a client of SQS.
type sender interface {
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

func batches(ctx context.Context, client *sqs.Client, s sender, db *dynamodb.Client, in *sqs.SendMessageBatchInput, items *dynamodb.BatchWriteItemInput) error {
	_, err := client.SendMessageBatch(ctx, in) // want `the response of sqs.SendMessageBatch lists in Failed what was not accepted: nothing looks at it`
	if err != nil {
		return err
	}
	if _, err := s.SendMessageBatch(ctx, in); err != nil { // want `the response of sqs.SendMessageBatch lists in Failed what was not accepted`
		return err
	}
	out, err := client.DeleteMessageBatch(ctx, nil) // want `the response of sqs.DeleteMessageBatch lists in Failed what was not accepted`
	if err != nil || out == nil {
		return err
	}
	written, err := db.BatchWriteItem(ctx, items) // want `the response of dynamodb.BatchWriteItem lists in UnprocessedItems what was not accepted`
	log.Print(written.ConsumedCapacity)
	return err
}

func looked(ctx context.Context, client *sqs.Client, db *dynamodb.Client, in *sqs.SendMessageBatchInput, items *dynamodb.BatchWriteItemInput, report func(*sqs.SendMessageBatchOutput)) (*dynamodb.BatchWriteItemOutput, error) {
	out, err := client.SendMessageBatch(ctx, in)
	if err != nil || len(out.Failed) > 0 {
		return nil, err
	}
	out, err = client.SendMessageBatch(ctx, in)
	if err == nil && len(out.Successful) < len(in.Entries) {
		return nil, errors.New("not all")
	}
	out, err = client.SendMessageBatch(ctx, in)
	report(out)
	for len(items.RequestItems) > 0 {
		written, err := db.BatchWriteItem(ctx, items)
		if err != nil {
			return nil, err
		}
		items.RequestItems = written.UnprocessedItems
	}
	err = retry.Do(ctx, policy, func(ctx context.Context) error {
		_, err := client.SendMessage(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return db.BatchWriteItem(ctx, items)
}

func keeps(ctx context.Context, keeper *retrykeep.Keeper, session func(context.Context, func()) error) error {
	go keeper.Run(ctx, session)    // want `the error of retrykeep.Keeper.Run is not used, so nobody learns that the session failed for good`
	defer keeper.Run(ctx, session) // want `the error of retrykeep.Keeper.Run is not used`
	keeper.Run(ctx, session)       // want `the error of retrykeep.Keeper.Run is not used`
	go func() {
		if err := keeper.Run(ctx, session); err != nil {
			log.Print(err)
		}
	}()
	return keeper.Run(ctx, session)
}

func bulk(ctx context.Context, client esapi.Transport, api esapi.Bulk, lines io.Reader) error {
	resp, err := esapi.BulkRequest{Body: lines}.Do(ctx, client) // want `the response of Bulk lists in its body what was not accepted: nothing looks at it`
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.IsError() {
		return errors.New(resp.Status())
	}
	other, err := api(lines) // want `the response of Bulk lists in its body what was not accepted`
	if err != nil {
		return err
	}
	defer other.Body.Close()
	read, err := api(lines)
	if err != nil {
		return err
	}
	defer read.Body.Close()
	var answer struct{ Errors bool }
	err = json.NewDecoder(read.Body).Decode(&answer)
	if err != nil {
		return err
	}
	indexed, err := esapi.IndexRequest{Body: lines}.Do(ctx, client)
	if err != nil {
		return err
	}
	return indexed.Body.Close()
}
