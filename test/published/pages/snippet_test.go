package pages

import (
	"context"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrykeep"
)

// This file contains the short pieces of code that occur on pages but not in examples.

var policy = awspreset.Standard21.Policy("dynamodb") // keep it: all calls share its quota

func callWithPreset(ctx context.Context, op func(context.Context) error) error {
	err := retry.Do(ctx, policy, op)
	return err
}

func otherStatuses() retry.Policy {
	policy := retry.Policy{Classifier: retry.Codes{Retry: []string{"404"}, Stop: []string{"503"}}}
	return policy
}

func isDown(policy retry.Policy, err error) (down bool) {
	v := policy.Classify(err)
	if v.GaveUp && v.Class != retry.ClassPermanent && !v.Unrepeatable {
		down = true // or busy: ask another provider, or this one in some minutes
	}
	return down
}

// polls is the first sample of the AWS General Reference.
func polls(ctx context.Context, maxRetries int, poll func(context.Context) error) error {
	polling := retry.Policy{Backoff: retry.Exponential{Base: 200 * time.Millisecond}, MaxAttempts: maxRetries}

	err := retry.SystemClock{}.Sleep(ctx, 100*time.Millisecond) // before the first poll
	if err == nil {
		err = retry.Do(ctx, polling, poll)
	}
	return err
}

func ofWorkers() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{
		Policy: retry.Policy{MaxElapsed: time.Minute, AttemptTimeout: 10 * time.Second, Budget: retry.NoBudget{}},
	}}
	return client
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

func pinging() *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second}
	client := &http.Client{Transport: &retryhttp.Transport{Base: base}}
	return client
}

func keyed() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{
		Policy:         retry.Policy{MaxElapsed: time.Minute},
		IdempotencyKey: retryhttp.KeyForHosts(retryhttp.RandomKey, "api.example.com"),
	}}
	return client
}

func keepConnected(ctx context.Context, dial func(context.Context) (io.ReadCloser, error), receive func(context.Context, io.Reader) error) error {
	keeper := &retrykeep.Keeper{Policy: retry.Policy{AttemptTimeout: 10 * time.Second}}
	err := keeper.Run(ctx, func(ctx context.Context, up func()) error {
		conn, err := dial(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		up() // the connection works
		return receive(ctx, conn)
	})
	return err
}

type pinger interface{ Ping(context.Context) error }

func connected(ctx context.Context, conn pinger, up func()) {
	retrykeep.Probe(ctx, conn.Ping)
	up() // the connection works
}

var _ = connected

type Item string

func storeItems(ctx context.Context, log *log.Logger, items []Item, store func(context.Context, []Item) (map[int]error, error)) error {
	batch := retrybatch.Batch[Item]{MaxItems: 25}
	failed, err := retrybatch.Do(ctx, batch, items, func(ctx context.Context, items []Item) (map[int]error, error) {
		return store(ctx, items)
	})
	for _, f := range failed {
		log.Printf("item %d: %v: %v", f.Index, f.Fate, f.Err)
	}
	return err
}

func TestLoops(t *testing.T) {
	received := retry.Permanent(io.EOF)
	err := keepConnected(t.Context(), func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("x")), nil
	}, func(context.Context, io.Reader) error { return received })
	assert.Equal(t, received, err)

	var lines strings.Builder
	err = storeItems(t.Context(), log.New(&lines, "", 0), []Item{"a", "b"}, func(context.Context, []Item) (map[int]error, error) {
		return map[int]error{1: received}, nil
	})
	assert.ErrorIs(t, err, io.EOF)
	assert.Equal(t, "item 1: refused: EOF\n", lines.String())
}

// TestPolls: the waits are those of the sample, the one before the first poll included.
func TestPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		err := polls(t.Context(), 4, func(context.Context) error {
			at = append(at, time.Since(start)/time.Millisecond)
			return io.ErrUnexpectedEOF
		})
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.Equal(t, []time.Duration{100, 300, 700, 1500}, at)
	})
}

func TestSnippets(t *testing.T) {
	assert.NoError(t, callWithPreset(t.Context(), func(context.Context) error { return nil }))

	client, user, err := hedged(t.Context(), func(context.Context) (string, error) { return "Ada", nil })
	assert.NoError(t, err)
	assert.Equal(t, "Ada", user)
	assert.NotNil(t, client.Transport)
	assert.NotNil(t, pinging().Transport.(*retryhttp.Transport).Base.(*http.Transport).HTTP2)
	assert.NoError(t, otherStatuses().Validate())
	assert.NotNil(t, keyed().Transport.(*retryhttp.Transport).IdempotencyKey)

	assert.Equal(t, retry.NoBudget{}, ofWorkers().Transport.(*retryhttp.Transport).Policy.Budget)
	assert.True(t, isDown(retry.Policy{}, &retry.Error{Err: io.ErrUnexpectedEOF, Reason: retry.ErrMaxAttempts}))
	assert.False(t, isDown(retry.Policy{}, io.ErrUnexpectedEOF))

	transport := &retryhttp.Transport{}
	repeatUnconditional(transport)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://host/", nil)
	assert.True(t, transport.MayRepeat(req))
	req.Header.Set("If-Match", `"1"`)
	assert.False(t, transport.MayRepeat(req))
}
