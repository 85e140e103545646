// Package faults_test runs retrytest/faults with the clients of other libraries.
package faults_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/go-resty/resty/v2"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest/faults"
)

const (
	twice = "the request is sent again although the server has acted"
	early = "the attempt after Retry-After: 2 comes after "
)

// clients send one POST, and what is found is what they do by default, or with retries on
// if they have none by default.
var clients = []struct {
	name  string
	post  func(ctx context.Context, client *http.Client, url string) error
	found []string // by fault
}{
	{"net http", func(ctx context.Context, client *http.Client, url string) error {
		return do(ctx, client.Do, url)
	}, nil},
	{"retryhttp", func(ctx context.Context, client *http.Client, url string) error {
		client = &http.Client{Transport: &retryhttp.Transport{Base: client.Transport, Policy: retry.Policy{}}}
		return do(ctx, client.Do, url)
	}, nil},
	{"go-retryablehttp", func(ctx context.Context, client *http.Client, url string) error {
		retrying := retryablehttp.NewClient()
		retrying.HTTPClient, retrying.Logger = client, nil
		return do(ctx, retrying.StandardClient().Do, url)
	}, []string{"lost: " + twice}},
	{"resty", func(ctx context.Context, client *http.Client, url string) error {
		retrying := resty.NewWithClient(client).SetRetryCount(3).AddRetryCondition(func(r *resty.Response, err error) bool {
			return err != nil || r.StatusCode() == http.StatusTooManyRequests
		})
		resp, err := retrying.R().SetContext(ctx).SetBody("tea").Post(url)
		if err == nil && resp.IsError() {
			err = fmt.Errorf("%s", resp.Status())
		}
		return err
	}, []string{"lost: " + twice, "cut: " + twice, "busy: " + early, "for-ever: " + early}},
	{"aws sqs", func(ctx context.Context, client *http.Client, url string) error {
		queue := sqs.New(sqs.Options{
			Region: "eu-west-1", BaseEndpoint: &url, HTTPClient: client, DisableMessageChecksumValidation: true,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
			}),
		})
		_, err := queue.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("tea")})
		return err
	}, []string{"lost: " + twice, "busy: " + early, "for-ever: " + early}}, // it reads X-Amz-Retry-After
}

func do(ctx context.Context, send func(*http.Request) (*http.Response, error), url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("tea"))
	if err != nil {
		return err
	}
	resp, err := send(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode >= 300 {
		return fmt.Errorf("%s %w", resp.Status, err)
	}
	return nil
}

// TestClients: the package works with other libraries' clients. It runs itself in another
// process, where findings fail.
func TestClients(t *testing.T) {
	shop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"MessageId": "1"}`) })
	if os.Getenv("FAULTS_CHILD") != "" {
		for _, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				faults.Test(t, func(t testing.TB, rt *faults.Transport) {
					server := rt.NewServer(shop)
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					if err := c.post(ctx, server.Client(), server.URL); err != nil {
						t.Fatal(err)
					}
				})
			})
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestClients$", "-test.v")
	cmd.Env = append(os.Environ(), "FAULTS_CHILD=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, string(out))
	tables := map[string]string{}
	for _, log := range strings.Split(string(out), "\n=== NAME  TestClients/")[1:] {
		name, log, _ := strings.Cut(log, "\n")
		log, _, _ = strings.Cut(log, "\n===")
		if strings.Contains(log, "how the test ended") {
			tables[strings.ReplaceAll(name, "_", " ")] += log
		}
	}
	for _, c := range clients {
		table := tables[c.name]
		t.Log(table)
		require.Contains(t, table, "how the test ended", c.name)
		assert.Equal(t, len(c.found), strings.Count(table, "! POST#1/"), "%s: %s", c.name, table)
		for _, found := range c.found {
			assert.Contains(t, table, "! POST#1/"+found, c.name)
		}
	}
}
