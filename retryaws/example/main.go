// Aws starts a server that fails in scripted ways, calls it with a client of the
// AWS SDK for Go v2 that retries like other SDKs, and prints a timeline.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
	"github.com/gobackoff/retry/retryconfig"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = run(os.Stdout, listener, new(net.Dialer).DialContext, rand.Float64)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "aws:", err)
		os.Exit(1)
	}
}

type scenario struct {
	operation string
	policy    retry.Policy
	form      form
	fails     string // the expected error code; "": none
	call      func(context.Context, *dynamodb.Client) error
}

// form is a way to give a policy to a client.
type form struct {
	name string
	give func(*dynamodb.Options, retry.Policy) error
}

var (
	sdkLoop = form{"in the SDK's loop", func(o *dynamodb.Options, p retry.Policy) error {
		retryer, err := retryaws.New(p)
		o.Retryer = retryer
		return err
	}}
	ownLoop = form{"instead of the SDK's loop", func(o *dynamodb.Options, p retry.Policy) error {
		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(p))
		return nil
	}}
)

var item = map[string]types.AttributeValue{"title": &types.AttributeValueMemberS{Value: "Waiting"}}

func scenarios() []scenario {
	common := awspreset.Standard21.Policy("dynamodb")
	common.AttemptTimeout = 300 * time.Millisecond
	return []scenario{
		{"PutItem", awspreset.JavaV2Standard20.Policy("dynamodb"), sdkLoop, "", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("books"), Item: item})
			return err
		}},
		{"GetItem", common, ownLoop, "", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("books"), Key: item})
			return err
		}},
		{"DeleteItem", awspreset.BotocoreLegacy.Policy("dynamodb"), sdkLoop, "ConditionalCheckFailedException", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("books"), Key: item})
			return err
		}},
	}
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// run serves the scripts on listener and makes all calls. The test connects client and
// server in memory and fixes the random numbers.
func run(w io.Writer, listener net.Listener, dial dialer, random func() float64) error {
	server := startServer(listener)
	defer server.close()

	for _, sc := range scenarios() {
		sc.policy.Rand = random
		fmt.Fprintf(w, "%s, policy %v, %s\n", sc.operation, retryconfig.Policy{Policy: sc.policy}, sc.form.name)
		if err := sc.run(w, dial, "http://"+listener.Addr().String()); err != nil {
			return fmt.Errorf("%s: %w", sc.operation, err)
		}
	}
	return nil
}

// run makes the call and returns an error if the outcome is unexpected.
func (sc scenario) run(w io.Writer, dial dialer, url string) error {
	timeline := newTimeline(w, newHTTPClient(dial))
	options := dynamodb.Options{
		Region:       "us-east-1",
		Credentials:  aws.CredentialsProviderFunc(credentials),
		BaseEndpoint: &url,
		HTTPClient:   timeline,
	}
	if err := sc.form.give(&options, sc.policy); err != nil {
		return err
	}
	err := sc.call(context.Background(), dynamodb.New(options))
	var failed smithy.APIError
	switch {
	case err == nil && sc.fails == "":
		fmt.Fprintf(w, "  succeeded after %v\n\n", timeline.elapsed())
		return nil
	case errors.As(err, &failed) && failed.ErrorCode() == sc.fails:
		fmt.Fprintf(w, "  failed after %v: %s\n\n", timeline.elapsed(), sc.fails)
		return nil
	}
	return fmt.Errorf("want the error code %q, got the error %v", sc.fails, err)
}

// newHTTPClient returns a client that makes a connection for each request. On reused
// connections, net/http may retry silently, and the timeline would not show it.
func newHTTPClient(dial dialer) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// credentials returns arbitrary credentials; the server does not check them.
func credentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
}
