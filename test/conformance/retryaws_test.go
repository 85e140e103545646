package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
	"github.com/gobackoff/retry/retrytest"
)

// TestThroughRetryaws: a client of the SDK for Go v2 with a mode's policy reads the headers and
// the codes of responses as that mode's SDK does, so it waits as the SDK was recorded to wait.
func TestThroughRetryaws(t *testing.T) {
	server := newServer()
	defer server.Close()
	for _, r := range recorded(t) {
		t.Run(r.Mode, func(t *testing.T) {
			checked := 0
			for _, c := range r.Cases {
				if c.Service != "sqs" || c.Operation != "ListQueues" || exclusion(r.Mode, c.testCase) != "" || !isAnswered(c.testCase) {
					continue
				}
				checked++
				for i, ours := range playThroughRetryaws(t, server, r.Mode, c.testCase) {
					assert.Empty(t, differences(c.Observed[i], ours), "%s, call %d", c.id(), i+1)
				}
			}
			assert.Greater(t, checked, 50)
		})
	}
}

// isAnswered reports whether a case has only responses, and no broken connections.
func isAnswered(c testCase) bool {
	return !c.TLS && !slices.ContainsFunc(c.Calls, func(call call) bool {
		return slices.ContainsFunc(call.Responses, func(r response) bool { return r.Fault != "" })
	})
}

func playThroughRetryaws(t *testing.T, server *server, mode string, c testCase) (observed []observation) {
	t.Helper()
	policy, err := policyOf(mode, c)
	require.NoError(t, err)
	policy.Rand = numbers(c.Random, c.RandomThen)
	require.NoError(t, setQuota(policy.Budget, c.Quota))
	operation := newOperation(server.URL, server.endpoint(c), mode, c.Service)
	defer operation.client.CloseIdleConnections()
	for _, call := range c.Calls {
		require.NoError(t, operation.begin(call))
		clock := &retrytest.Clock{}
		policy.Clock = clock
		client := sqs.New(sqs.Options{
			Region: "us-east-1", BaseEndpoint: aws.String(server.endpoint(c)), HTTPClient: operation.client,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
			}),
		}, func(o *sqs.Options) { o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy)) })
		_, err := client.ListQueues(t.Context(), &sqs.ListQueuesInput{})
		if isLongPoll(mode, c) {
			err = awspreset.LongPoll(t.Context(), policy, err)
		}
		o, err := operation.end(err)
		require.NoError(t, err)
		o.Delays = []json.Number{}
		for _, d := range clock.Waits() {
			o.Delays = append(o.Delays, json.Number(fmt.Sprint(d.Nanoseconds())))
		}
		o.Quota = balance(policy.Budget)
		observed = append(observed, o)
	}
	return observed
}
