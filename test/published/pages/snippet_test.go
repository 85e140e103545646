package pages

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp"
)

// This file contains the short pieces of code that occur on pages but not in examples.

var policy = awspreset.Standard21.Policy("dynamodb") // keep it: all calls share its quota

func callWithPreset(ctx context.Context, op func(context.Context) error) error {
	err := retry.Do(ctx, policy, op)
	return err
}

func repeatUnconditional(transport *retryhttp.Transport) {
	transport.MayRepeat = func(req *http.Request) bool {
		return retryhttp.IsIdempotent(req) && req.Header.Get("If-Match") == "" && req.Header.Get("If-None-Match") == ""
	}
}

func hedged(ctx context.Context, loadUser func(context.Context) (string, error)) (*http.Client, string, error) {
	hedge := new(retryhedge.Hedge) // shared by all calls, from which it learns how long they take
	client := &http.Client{Transport: &retryhttp.Transport{Hedge: hedge}}
	user, err := retryhedge.Do(ctx, hedge, "users", loadUser) // anything else that may run twice; the name says what is compared
	return client, user, err
}

func keyed() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{
		Policy:         retry.Policy{MaxElapsed: time.Minute},
		IdempotencyKey: retryhttp.KeyForHosts(retryhttp.RandomKey, "api.example.com"),
	}}
	return client
}

func TestSnippets(t *testing.T) {
	assert.NoError(t, callWithPreset(t.Context(), func(context.Context) error { return nil }))

	client, user, err := hedged(t.Context(), func(context.Context) (string, error) { return "Ada", nil })
	assert.NoError(t, err)
	assert.Equal(t, "Ada", user)
	assert.NotNil(t, client.Transport)
	assert.NotNil(t, keyed().Transport.(*retryhttp.Transport).IdempotencyKey)

	transport := &retryhttp.Transport{}
	repeatUnconditional(transport)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://host/", nil)
	assert.True(t, transport.MayRepeat(req))
	req.Header.Set("If-Match", `"1"`)
	assert.False(t, transport.MayRepeat(req))
}
