package recipes

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
)

// PutRecords writes records to a stream, in order for each partition key. A record whose
// response is lost may be written twice.
func PutRecords(ctx context.Context, client *kinesis.Client, policy retry.Policy, stream string, records []types.PutRecordsRequestEntry) ([]retrybatch.Failure[types.PutRecordsRequestEntry], error) {
	batch := retrybatch.Batch[types.PutRecordsRequestEntry]{
		Policy:    policy,
		MaxItems:  500,
		MaxSize:   5 << 20,
		Size:      func(r types.PutRecordsRequestEntry) int { return len(r.Data) + len(*r.PartitionKey) },
		MayRepeat: func(types.PutRecordsRequestEntry) bool { return true },
		Key:       func(r types.PutRecordsRequestEntry) string { return *r.PartitionKey }, // without order: nil
	}
	return retrybatch.Do(ctx, batch, records, func(ctx context.Context, batch []types.PutRecordsRequestEntry) (map[int]error, error) {
		out, err := client.PutRecords(ctx, &kinesis.PutRecordsInput{StreamName: &stream, Records: batch},
			func(o *kinesis.Options) { o.Retryer = aws.NopRetryer{} })
		if err != nil {
			return nil, err
		}
		failed := map[int]error{}
		for i, result := range out.Records { // in the order of the request
			if result.ErrorCode == nil {
				continue
			}
			failed[i] = fmt.Errorf("%s: %s", *result.ErrorCode, aws.ToString(result.ErrorMessage))
			if *result.ErrorCode == "ProvisionedThroughputExceededException" {
				failed[i] = retry.Throttled(failed[i])
			}
		}
		return failed, nil
	})
}
