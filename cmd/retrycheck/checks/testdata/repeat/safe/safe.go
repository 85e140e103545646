// Package safe does not repeat an UpdateItem.
package safe

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws"
)

func counts(ctx context.Context, config aws.Config, p retry.Policy, n string) error {
	client := dynamodb.NewFromConfig(config, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(p, retryaws.Safely("PutItem")))
	})
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("ADD views :n"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: n}},
	})
	return err
}
