package retryaws_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// transactionVerdict judges a canceled transaction by the reasons of its items. It has no
// opinion about other errors.
func transactionVerdict(err error) retry.Verdict {
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		return retry.Verdict{}
	}
	class := retry.ClassUnknown
	for _, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "", "None": // this item did not cancel the transaction
		case "TransactionConflict":
			if class == retry.ClassUnknown {
				class = retry.ClassTransient
			}
		case "ThrottlingError", "ProvisionedThroughputExceeded":
			class = retry.ClassThrottled
		default: // ConditionalCheckFailed, ValidationError, …: a retry would fail again
			return retry.Verdict{Class: retry.ClassPermanent}
		}
	}
	return retry.Verdict{Class: class}
}

// TestTransactions: a canceled transaction is retried if all of its reasons are temporary.
func TestTransactions(t *testing.T) {
	for reasons, requests := range map[string]int{
		"None,TransactionConflict":                        4,
		"ThrottlingError,None":                            4,
		"ProvisionedThroughputExceeded":                   4,
		"TransactionConflict,ThrottlingError":             4,
		"ConditionalCheckFailed,TransactionConflict":      1,
		"ThrottlingError,ItemCollectionSizeLimitExceeded": 1,
		"ValidationError":                                 1,
		"None":                                            1, // the SDKs do not retry the exception itself
	} {
		t.Run(reasons, func(t *testing.T) {
			var list []string
			for code := range strings.SplitSeq(reasons, ",") {
				list = append(list, fmt.Sprintf(`{"Code":%q}`, code))
			}
			transport := newScript(respond(400, fmt.Sprintf(
				`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[%s]}`, strings.Join(list, ","))))

			policy := awspreset.Standard21.Policy(awspreset.DynamoDB)
			policy.Classifier = retry.FirstOf(retry.ClassifierFunc(transactionVerdict), policy.Classifier)
			policy.Backoff = retry.NoDelay{}
			c := newDynamoDB(t, transport, asMiddleware, policy)
			_, err := c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{}})
			require.Error(t, err)
			var canceled *types.TransactionCanceledException
			assert.ErrorAs(t, err, &canceled)
			assert.Equal(t, requests, transport.count())
		})
	}
}
