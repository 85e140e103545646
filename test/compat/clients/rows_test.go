package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-github/v81/github"
	"github.com/minio/minio-go/v7"
	miniocredentials "github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/coupon"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	gcloudoption "google.golang.org/api/option"
	"google.golang.org/genai"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/gobackoff/retry/retryhttp"
)

const url = "http://registry.localhost"

var rows = []row{
	{"openai-go", below, 3, openaiCalls, body(`{"id": "1", "object": "model", "choices": []}`)},
	{"anthropic-sdk-go", below, 3, anthropicCalls, body(`{"id": "1", "type": "message", "content": []}`)},
	{"genai", instead, 3, genaiCalls, body(`{"name": "models/gemini", "candidates": []}`)},
	{"go-github", instead, 3, githubCalls, body(`{"id": 1, "name": "repository"}`)},
	{"stripe-go", instead, 3, stripeCalls, body(`{"id": "half-price"}`)},
	{"slack-go", instead, 3, slackCalls, body(`{"ok": true, "user": {"id": "U1"}, "channel": "C1", "ts": "1"}`)},
	{"aws-sdk-go-v2, S3", below, 3, s3Calls, object},
	{"aws-sdk-go-v2, DynamoDB", below, 4, dynamoCalls, body(`{"Item": {"id": {"S": "1"}}}`)},
	{"azcore", below, 4, azureCalls, body(`{"id": 1}`)},
	{"cloud storage", below, 30, storageCalls, object},
	{"minio-go", below, 10, minioCalls, object},
	{"client-go", below, 11, kubernetesCalls, body(`{"kind": "Status", "apiVersion": "v1", "status": "Success"}`)},
	{"go-containerregistry", below, 4, registryCalls, manifest},
	{"oauth2", fetching, 3, tokenCalls, body(`{"access_token": "token", "token_type": "bearer", "expires_in": 3600}`)},
}

func body(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

// object is what an object store answers.
func object(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Etag", `"d41d8cd98f00b204e9800998ecf8427e"`)
	w.Header().Set("Last-Modified", "Fri, 27 Nov 2026 00:00:00 GMT")
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, "content")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"bucket": "bucket", "name": "object", "size": "7"}`)
}

func manifest(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v2/" {
		return
	}
	w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	if r.Method == http.MethodPut {
		w.WriteHeader(http.StatusCreated)
		return
	}
	_, _ = io.WriteString(w, `{"schemaVersion": 2, "config": {"digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}}`)
}

// fetching is for token servers: to ask for a token twice does no harm.
func fetching() *retryhttp.Transport {
	t := instead()
	t.MayRepeat = func(req *http.Request) bool { return retryhttp.IsIdempotent(req) || req.URL.Path == "/token" }
	return t
}

func openaiCalls(_ *testing.T, client *http.Client, _ bool) (read, write call) {
	c := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithHTTPClient(client))
	return func(ctx context.Context) error {
			_, err := c.Models.Get(ctx, "gpt")
			return err
		}, func(ctx context.Context) error {
			_, err := c.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: "gpt"})
			return err
		}
}

func anthropicCalls(_ *testing.T, client *http.Client, _ bool) (read, write call) {
	c := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("key"), anthropicoption.WithHTTPClient(client))
	return func(ctx context.Context) error {
			_, err := c.Models.Get(ctx, "claude", anthropic.ModelGetParams{})
			return err
		}, func(ctx context.Context) error {
			_, err := c.Messages.New(ctx, anthropic.MessageNewParams{Model: "claude", MaxTokens: 10})
			return err
		}
}

func genaiCalls(t *testing.T, client *http.Client, _ bool) (read, write call) {
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	require.NoError(t, err)
	return func(ctx context.Context) error {
			_, err := c.Models.Get(ctx, "gemini", nil)
			return err
		}, func(ctx context.Context) error {
			_, err := c.Models.GenerateContent(ctx, "gemini", genai.Text("hello"), nil)
			return err
		}
}

func githubCalls(t *testing.T, client *http.Client, _ bool) (read, write call) {
	c, err := github.NewClient(client).WithEnterpriseURLs(url, url)
	require.NoError(t, err)
	return func(ctx context.Context) error {
			_, _, err := c.Repositories.Get(ctx, "owner", "repository")
			return err
		}, func(ctx context.Context) error {
			_, _, err := c.Issues.Create(ctx, "owner", "repository", &github.IssueRequest{Title: new("title")})
			return err
		}
}

func stripeCalls(_ *testing.T, client *http.Client, bare bool) (read, write call) {
	config := &stripe.BackendConfig{
		URL: new(url), HTTPClient: client, LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	}
	if !bare {
		config.MaxNetworkRetries = stripe.Int64(0)
	}
	c := coupon.Client{Key: "key", B: stripe.GetBackendWithConfig(stripe.APIBackend, config)}
	return func(context.Context) error {
			//lint:ignore SA1019 most programs still use the clients of one resource
			_, err := c.Get("half-price", nil)
			return err
		}, func(context.Context) error {
			//lint:ignore SA1019 most programs still use the clients of one resource
			_, err := c.New(&stripe.CouponParams{PercentOff: stripe.Float64(50)})
			return err
		}
}

func slackCalls(_ *testing.T, client *http.Client, _ bool) (read, write call) {
	c := slack.New("token", slack.OptionAPIURL(url+"/"), slack.OptionHTTPClient(client))
	return func(ctx context.Context) error {
			_, err := c.GetUserInfoContext(ctx, "U1")
			return err
		}, func(ctx context.Context) error {
			_, _, err := c.PostMessageContext(ctx, "C1", slack.MsgOptionText("hello", false))
			return err
		}
}

var awsCredentials = credentials.NewStaticCredentialsProvider("key", "secret", "")

func s3Calls(_ *testing.T, client *http.Client, _ bool) (read, write call) {
	c := s3.New(s3.Options{
		Region: "us-east-1", Credentials: awsCredentials, BaseEndpoint: new(url), UsePathStyle: true, HTTPClient: client,
	})
	return func(ctx context.Context) error {
			out, err := c.GetObject(ctx, &s3.GetObjectInput{Bucket: new("bucket"), Key: new("object")})
			if err != nil {
				return err
			}
			return readAll(out.Body)
		}, func(ctx context.Context) error {
			_, err := c.PutObject(ctx, &s3.PutObjectInput{Bucket: new("bucket"), Key: new("object"), Body: strings.NewReader("content")})
			return err
		}
}

func dynamoCalls(_ *testing.T, client *http.Client, _ bool) (read, write call) {
	c := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: awsCredentials, BaseEndpoint: new(url), HTTPClient: client,
		DisableValidateResponseChecksum: true,
	})
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	return func(ctx context.Context) error {
			_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("table"), Key: key})
			return err
		}, func(ctx context.Context) error {
			_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("table"), Item: key})
			return err
		}
}

func azureCalls(_ *testing.T, client *http.Client, _ bool) (read, write call) {
	pipeline := azruntime.NewPipeline("test", "v1", azruntime.PipelineOptions{}, &policy.ClientOptions{Transport: client})
	send := func(ctx context.Context, method string) error {
		req, err := azruntime.NewRequest(ctx, method, url)
		if err != nil {
			return err
		}
		if method == http.MethodPost {
			if err := azruntime.MarshalAsJSON(req, map[string]int{"id": 1}); err != nil {
				return err
			}
		}
		resp, err := pipeline.Do(req)
		if err != nil {
			return err
		}
		if !azruntime.HasStatusCode(resp, http.StatusOK) {
			return azruntime.NewResponseError(resp)
		}
		_, err = azruntime.Payload(resp)
		return err
	}
	return func(ctx context.Context) error { return send(ctx, http.MethodGet) },
		func(ctx context.Context) error { return send(ctx, http.MethodPost) }
}

func storageCalls(t *testing.T, client *http.Client, _ bool) (read, write call) {
	c, err := storage.NewClient(t.Context(), gcloudoption.WithEndpoint(url+"/storage/v1/"), gcloudoption.WithHTTPClient(client))
	require.NoError(t, err)
	object := c.Bucket("bucket").Object("object")
	return func(ctx context.Context) error {
			r, err := object.NewReader(ctx)
			if err != nil {
				return err
			}
			return readAll(r)
		}, func(ctx context.Context) error {
			w := object.If(storage.Conditions{DoesNotExist: true}).NewWriter(ctx)
			if _, err := io.WriteString(w, "content"); err != nil {
				return err
			}
			return w.Close()
		}
}

func minioCalls(t *testing.T, client *http.Client, _ bool) (read, write call) {
	c, err := minio.New(strings.TrimPrefix(url, "http://"), &minio.Options{
		Creds: miniocredentials.NewStaticV4("key", "secret", ""), Region: "us-east-1", Transport: client.Transport,
	})
	require.NoError(t, err)
	return func(ctx context.Context) error {
			o, err := c.GetObject(ctx, "bucket", "object", minio.GetObjectOptions{})
			if err != nil {
				return err
			}
			return readAll(o)
		}, func(ctx context.Context) error {
			_, err := c.PutObject(ctx, "bucket", "object", bytes.NewReader([]byte("content")), 7, minio.PutObjectOptions{})
			return err
		}
}

func kubernetesCalls(t *testing.T, client *http.Client, _ bool) (read, write call) {
	scheme := runtime.NewScheme()
	version := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, version)
	c, err := rest.RESTClientForConfigAndClient(&rest.Config{Host: url, APIPath: "/api", ContentConfig: rest.ContentConfig{
		GroupVersion: &version, NegotiatedSerializer: serializer.NewCodecFactory(scheme),
	}}, client)
	require.NoError(t, err)
	return func(ctx context.Context) error { return c.Get().Resource("pods").Name("pod").Do(ctx).Error() },
		func(ctx context.Context) error {
			return c.Post().Resource("pods").Body([]byte(`{"kind": "Pod"}`)).Do(ctx).Error()
		}
}

func registryCalls(t *testing.T, client *http.Client, _ bool) (read, write call) {
	tag, err := name.NewTag(strings.TrimPrefix(url, "http://")+"/repository:tag", name.Insecure)
	require.NoError(t, err)
	rt := client.Transport
	return func(ctx context.Context) error {
			_, err := remote.Get(tag, remote.WithTransport(rt), remote.WithContext(ctx))
			return err
		}, func(ctx context.Context) error {
			return remote.Put(tag, rawManifest(`{"schemaVersion": 2}`), remote.WithTransport(rt), remote.WithContext(ctx))
		}
}

type rawManifest string

func (m rawManifest) RawManifest() ([]byte, error) { return []byte(m), nil }

func tokenCalls(_ *testing.T, client *http.Client, _ bool) (read, write call) {
	config := clientcredentials.Config{ClientID: "id", ClientSecret: "secret", TokenURL: url + "/token", AuthStyle: oauth2.AuthStyleInHeader}
	send := func(ctx context.Context, method string) error {
		ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
		req, err := http.NewRequestWithContext(ctx, method, url, nil)
		if err != nil {
			return err
		}
		resp, err := config.Client(ctx).Do(req)
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return readAll(resp.Body)
	}
	return func(ctx context.Context) error { return send(ctx, http.MethodGet) },
		func(ctx context.Context) error { return send(ctx, http.MethodPost) }
}

func readAll(body io.ReadCloser) error {
	defer body.Close()
	_, err := io.ReadAll(body)
	return err
}
