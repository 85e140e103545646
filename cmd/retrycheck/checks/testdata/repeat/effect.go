package repeat

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws"
)

var errSent = errors.New("sent, and no answer")

func charge(ctx context.Context, send func(context.Context) error) error {
	err := send(ctx)
	if errors.Is(err, errSent) {
		return retry.Unrepeatable(err)
	}
	return err
}

func insists(ctx context.Context, p retry.Policy, send func(context.Context) error) error {
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		return retry.Transient(charge(ctx, send)) // want `retry.Transient overrides retry.Unrepeatable in the error of charge, so what may have taken effect is repeated: return the error as it is`
	})
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := charge(ctx, send)
		if err != nil {
			return retry.Transient(fmt.Errorf("charge: %w", err)) // want `retry.Transient overrides retry.Unrepeatable in the error of charge`
		}
		return nil
	})
}

func keepsMark(ctx context.Context, p retry.Policy, send func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := charge(ctx, send)
		if err != nil {
			return fmt.Errorf("charge: %w", err)
		}
		return retry.Transient(send(ctx))
	})
}

func newDynamo(cfg aws.Config, p retry.Policy) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(p))
	})
}

const increment = "SET hits = if_not_exists(hits, :zero) + :one"

func adds(ctx context.Context, db *dynamodb.Client) {
	one := map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: "1"}}
	_, _ = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("SET changed = :now ADD credit :n"), // want `WithPolicy repeats an UpdateItem whose response is lost, and this one then adds twice: use retryaws.Safely without UpdateItem, or a ConditionExpression`
		ExpressionAttributeValues: one,
	})
	_, _ = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{UpdateExpression: aws.String("SET #credit = #credit - :n")})           // want `this one then adds twice`
	_, _ = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{UpdateExpression: aws.String(increment)})                              // want `this one then adds twice`
	_, _ = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{UpdateExpression: aws.String("SET events = list_append(events, :e)")}) // want `this one then adds twice`
}

func sets(ctx context.Context, db *dynamodb.Client) {
	tags := map[string]types.AttributeValue{":t": &types.AttributeValueMemberSS{Value: []string{"new"}}}
	_, _ = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("ADD tags :t"), // to a set, which has it once
		ExpressionAttributeValues: tags,
	})
	_, _ = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{UpdateExpression: aws.String("SET credit = :n, changed = :now")})
	_, _ = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{UpdateExpression: aws.String("SET credit = :a + :b")})
	_, _ = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		UpdateExpression:    aws.String("SET credit = credit + :n"),
		ConditionExpression: aws.String("version = :v"),
	})
}
