package compat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/google/go-github/v81/github"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/coupon"
	"google.golang.org/api/googleapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gobackoff/retry"
)

// apiServer returns the URL of a server that responds with the status in the last
// element of the path, or with a 403 like one from GitHub or Google.
func apiServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := 403, `{"message":"no","error":{"code":"no","message":"no","type":"no"}}`
		switch last := path.Base(r.URL.Path); last {
		case "primary":
			w.Header().Set("X-RateLimit-Remaining", "0")
		case "secondary":
			w.Header().Set("Retry-After", "7")
			body = `{"documentation_url":"https://docs.github.com/rest#about-secondary-rate-limits"}`
		case "secondary without a wait":
			body = `{"documentation_url":"https://docs.github.com/rest#about-secondary-rate-limits"}`
		case "wait":
			w.Header().Set("Retry-After", "7")
			status = 503
		case "exhausted":
			w.Header().Set("Retry-After", "7")
			status, body = 429, `{"error":{"code":"insufficient_quota","message":"no","type":"insufficient_quota"}}`
		case "quota":
			body = `{"error":{"code":403,"errors":[{"reason":"rateLimitExceeded"}]}}`
		case "google":
			body = `{"error":{"code":403,"errors":[{"reason":"forbidden"}]}}`
		default:
			status, _ = strconv.Atoi(last)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func statusFaults(t *testing.T, call func(status string) error) []fault {
	t.Helper()
	var faults []fault
	for _, status := range []struct {
		code  int
		class retry.Class
	}{
		{400, permanent}, {401, permanent}, {402, permanent}, {403, permanent}, {404, permanent}, {408, timeout},
		{409, permanent}, {422, permanent}, {429, throttled}, {500, transient}, {501, permanent}, {503, transient},
	} {
		name := strconv.Itoa(status.code)
		faults = append(faults, fault{name: name, err: call(name), class: status.class})
	}
	return faults
}

// sdkFaults is statusFaults for SDKs whose clients repeat a request after 409.
func sdkFaults(t *testing.T, call func(status string) error) []fault {
	t.Helper()
	faults := statusFaults(t, call)
	for i := range faults {
		if faults[i].name == "409" {
			faults[i].class = transient
		}
	}
	return append(faults, fault{name: "529", err: call("529"), class: throttled})
}

func fetch(t *testing.T, base string, check func(*http.Response) error) func(string) error {
	return func(status string) error {
		resp, err := http.Get(base + "/" + status)
		require.NoError(t, err)
		defer resp.Body.Close()
		return check(resp)
	}
}

func googleFaults(t *testing.T) []fault {
	call := fetch(t, apiServer(t), googleapi.CheckResponse)
	return append(statusFaults(t, call),
		fault{name: "503 with Retry-After", err: call("wait"), class: transient, hint: 7 * time.Second},
		fault{name: "403 rateLimitExceeded", err: call("quota"), class: throttled},
		fault{name: "403 forbidden", err: call("google"), class: permanent})
}

func azureFaults(t *testing.T) []fault {
	call := fetch(t, apiServer(t), runtime.NewResponseError)
	return append(statusFaults(t, call), fault{name: "503 with Retry-After", err: call("wait"), class: transient, hint: 7 * time.Second})
}

func githubFaults(t *testing.T) []fault {
	base, err := url.Parse(apiServer(t) + "/")
	require.NoError(t, err)
	call := func(repo string) error {
		client := github.NewClient(nil) // a client remembers rate limits
		client.BaseURL = base
		_, _, err := client.Repositories.Get(t.Context(), "owner", repo)
		return err
	}
	return append(statusFaults(t, call),
		fault{name: "503 with Retry-After", err: call("wait"), class: transient, hint: 7 * time.Second},
		fault{name: "RateLimitError", err: call("primary"), class: throttled},
		fault{name: "AbuseRateLimitError", err: call("secondary"), class: throttled, hint: 7 * time.Second},
		fault{name: "AbuseRateLimitError without Retry-After", err: call("secondary without a wait"), class: throttled, hint: time.Minute})
}

func stripeFaults(t *testing.T) []fault {
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL: new(apiServer(t)), MaxNetworkRetries: stripe.Int64(0),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	client := coupon.Client{B: backend, Key: "key"}
	return sdkFaults(t, func(status string) error {
		//lint:ignore SA1019 most programs still use the clients of one resource
		_, err := client.Get(status, nil)
		return err
	})
}

func openaiFaults(t *testing.T) []fault {
	client := openai.NewClient(option.WithBaseURL(apiServer(t)), option.WithAPIKey("key"), option.WithMaxRetries(0))
	call := func(status string) error {
		_, err := client.Models.Get(t.Context(), status)
		return err
	}
	return append(sdkFaults(t, call),
		fault{name: "503 with Retry-After", err: call("wait"), class: transient, hint: 7 * time.Second},
		fault{name: "429 insufficient_quota", err: call("exhausted"), class: permanent, hint: 7 * time.Second})
}

func minioFaults(t *testing.T) []fault {
	client, err := minio.New(strings.TrimPrefix(apiServer(t), "http://"), &minio.Options{
		Creds: credentials.NewStaticV4("key", "secret", ""), Region: "us-east-1", MaxRetries: 1,
	})
	require.NoError(t, err)
	return statusFaults(t, func(status string) error {
		_, err := client.StatObject(t.Context(), "bucket", status, minio.StatObjectOptions{})
		return err
	})
}

func kubernetesFaults(*testing.T) []fault {
	pods := schema.GroupResource{Resource: "pods"}
	failed := errors.New("no")
	return []fault{
		{name: "BadRequest", err: apierrors.NewBadRequest("no"), class: permanent},
		{name: "Unauthorized", err: apierrors.NewUnauthorized("no"), class: permanent},
		{name: "Forbidden", err: apierrors.NewForbidden(pods, "pod", failed), class: permanent},
		{name: "NotFound", err: apierrors.NewNotFound(pods, "pod"), class: permanent},
		{name: "AlreadyExists", err: apierrors.NewAlreadyExists(pods, "pod"), class: permanent},
		{name: "Conflict", err: apierrors.NewConflict(pods, "pod", failed), class: transient},
		{name: "Gone", err: apierrors.NewResourceExpired("old"), class: permanent},
		{name: "TooManyRequests", err: apierrors.NewTooManyRequests("later", 7), class: throttled, hint: 7 * time.Second},
		{name: "InternalError", err: apierrors.NewInternalError(failed), class: transient},
		{name: "ServerTimeout", err: apierrors.NewServerTimeout(pods, "list", 2), class: transient, hint: 2 * time.Second},
		{name: "Timeout", err: apierrors.NewTimeoutError("slow", 0), class: transient},
		{name: "ServiceUnavailable", err: apierrors.NewServiceUnavailable("no"), class: transient},
	}
}

// TestOwnStatus: a program's own error type with a StatusCode field is classified.
func TestOwnStatus(t *testing.T) {
	for _, f := range []fault{
		{name: "value", err: apiError{StatusCode: 404}, class: permanent},
		{name: "pointer", err: &apiError{StatusCode: 503}, class: transient},
		{name: "no status", err: apiError{StatusCode: 5}, class: unknown},
	} {
		t.Run(f.name, func(t *testing.T) { check(t, f) })
	}
}

type apiError struct {
	Path       string
	StatusCode uint16
}

func (e apiError) Error() string { return fmt.Sprint(e.Path, " ", e.StatusCode) }

// TestFanOut: in a tree, a cancellation beside another failure does not count, because a
// fan-out cancels the siblings of what failed.
func TestFanOut(t *testing.T) {
	for _, f := range []fault{
		{name: "503", err: errors.Join(apiError{StatusCode: 503}, context.Canceled), class: transient},
		{name: "503, later", err: errors.Join(context.Canceled, apiError{StatusCode: 503}), class: transient},
		{name: "404", err: errors.Join(context.Canceled, apiError{StatusCode: 404}), class: permanent},
		{name: "alone", err: errors.Join(context.Canceled, context.Canceled), class: permanent},
	} {
		t.Run(f.name, func(t *testing.T) {
			check(t, f)
		})
	}
}
