package interop_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// resendCount sits below otelhttp and tells the span which attempt it is of, as
// the semantic conventions want it: 1 for the first repetition.
type resendCount struct{ base http.RoundTripper }

func (r resendCount) RoundTrip(req *http.Request) (*http.Response, error) {
	if n := retryhttp.AttemptNumber(req.Context()); n > 1 {
		trace.SpanFromContext(req.Context()).SetAttributes(attribute.Int("http.request.resend_count", n-1))
	}
	return r.base.RoundTrip(req)
}

// traced returns a recorder of spans and the options that make otelhttp use it.
func traced() (*tracetest.SpanRecorder, []otelhttp.Option) {
	recorder := tracetest.NewSpanRecorder()
	return recorder, []otelhttp.Option{
		otelhttp.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))),
		otelhttp.WithPropagators(propagation.TraceContext{}),
	}
}

func putBody(ctx context.Context, t *testing.T, client *http.Client, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader(longBody))
	require.NoError(t, err)
	return client.Do(req)
}

// ended returns the spans, all of which must have an end, in the order in which
// they were started.
func ended(t *testing.T, recorder *tracetest.SpanRecorder) []sdktrace.ReadOnlySpan {
	t.Helper()
	for _, span := range recorder.Started() {
		assert.False(t, span.EndTime().IsZero(), "the span %s was left unended", span.Name())
	}
	var spans []sdktrace.ReadOnlySpan
	for _, span := range recorder.Started() {
		spans = append(spans, span)
	}
	assert.Len(t, recorder.Ended(), len(spans))
	return spans
}

// number returns an attribute of a span, 0 if it is not there.
func number(span sdktrace.ReadOnlySpan, key attribute.Key) int {
	for _, kv := range span.Attributes() {
		if kv.Key == key {
			return int(kv.Value.AsInt64())
		}
	}
	return 0
}

// TestTracedBelow: each attempt has a span of its own, which the server is told
// of, and which ends also if nobody wants the answer.
func TestTracedBelow(t *testing.T) {
	server := newScripted(t, gives(503, 20<<10), dies, gives(200, 30<<10))
	recorder, options := traced()
	policy, attempts := counted()
	client := &http.Client{Transport: &retryhttp.Transport{
		Base:   otelhttp.NewTransport(resendCount{newBase(t)}, options...),
		Policy: policy,
	}}
	resp, err := putBody(t.Context(), t, client, server.url)
	require.NoError(t, err)
	require.Len(t, recorder.Ended(), 2, "the last attempt lasts until its answer is closed")
	assert.Len(t, whole(t, resp), 30<<10)
	assert.EqualValues(t, 3, attempts.Load())

	spans := ended(t, recorder)
	require.Len(t, spans, 3)
	for i, span := range spans {
		assert.Equal(t, trace.SpanKindClient, span.SpanKind())
		assert.Equal(t, i, number(span, "http.request.resend_count"))
		assert.Equal(t, []int{503, 0, 200}[i], number(span, "http.response.status_code"))
		assert.Contains(t, server.parents[i], span.SpanContext().SpanID().String(), "the server knows the attempt")
		assert.True(t, server.bodies[i] == longBody, "body %d has %d bytes", i+1, len(server.bodies[i]))
	}
}

// TestTracedAbove: the call has one span, until its answer is closed.
func TestTracedAbove(t *testing.T) {
	server := newScripted(t, gives(503, 20<<10), dies, gives(200, 30<<10))
	recorder, options := traced()
	policy, attempts := counted()
	client := &http.Client{Transport: otelhttp.NewTransport(
		&retryhttp.Transport{Base: newBase(t), Policy: policy, AttemptHeader: "Attempt"}, options...)}
	resp, err := putBody(t.Context(), t, client, server.url)
	require.NoError(t, err)
	assert.Empty(t, recorder.Ended(), "the answer is not closed")
	assert.Len(t, whole(t, resp), 30<<10)
	assert.EqualValues(t, 3, attempts.Load())

	spans := ended(t, recorder)
	require.Len(t, spans, 1)
	assert.Equal(t, 200, number(spans[0], "http.response.status_code"))
	assert.Equal(t, []string{"1", "2", "3"}, server.attempts)
	for i, body := range server.bodies {
		assert.Contains(t, server.parents[i], spans[0].SpanContext().SpanID().String(), "all attempts are of one span")
		assert.True(t, body == longBody, "body %d has %d bytes", i+1, len(body))
	}
}

// TestTracedOnBothSides: the spans of the attempts are children of the call's.
func TestTracedOnBothSides(t *testing.T) {
	server := newScripted(t, gives(503, 10), gives(200, 10))
	recorder, options := traced()
	policy, _ := counted()
	client := &http.Client{Transport: otelhttp.NewTransport(&retryhttp.Transport{
		Base:   otelhttp.NewTransport(resendCount{newBase(t)}, options...),
		Policy: policy,
	}, options...)}
	resp, err := putBody(t.Context(), t, client, server.url)
	require.NoError(t, err)
	whole(t, resp)
	spans := ended(t, recorder)
	require.Len(t, spans, 3)
	assert.False(t, spans[0].Parent().IsValid())
	for i, span := range spans[1:] {
		assert.Equal(t, spans[0].SpanContext().SpanID(), span.Parent().SpanID())
		assert.Equal(t, i, number(span, "http.request.resend_count"))
	}
}

// spansOfAll is one for each attempt of the policy that the tests use.
const spansOfAll = 3

// endings are the ways in which a call can end.
var endings = []struct {
	name    string
	failure http.HandlerFunc // of every attempt
	policy  func(*retry.Policy, context.CancelFunc)
	spans   int
	status  int // 0: an error
}{
	{name: "empty answers", failure: gives(503, 0), spans: spansOfAll, status: 503},
	{name: "short answers", failure: gives(503, 10), spans: spansOfAll, status: 503},
	{name: "answers too long to be read", failure: gives(503, 100<<10), spans: spansOfAll, status: 503},
	{name: "no answers", failure: dies, spans: spansOfAll},
	{name: "not worth a retry", failure: gives(404, 10), spans: 1, status: 404},
	{
		name: "a time limit for the attempt", failure: gives(503, 10), spans: spansOfAll, status: 503,
		policy: func(p *retry.Policy, _ context.CancelFunc) { p.AttemptTimeout = time.Hour },
	},
	{
		name: "the context ends during the wait", failure: gives(503, 10), spans: 1,
		policy: func(p *retry.Policy, cancel context.CancelFunc) {
			p.OnRetry = func(context.Context, retry.Attempt, time.Duration) { cancel() }
		},
	},
	{
		name: "the context ends with the attempt", failure: gives(503, 10), spans: 1,
		policy: func(p *retry.Policy, cancel context.CancelFunc) {
			p.OnAttempt = func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
				return nil, func(retry.Attempt) { cancel() }
			}
		},
	},
}

// TestTracedEnds: no way out of a call leaves the span of an attempt unended.
func TestTracedEnds(t *testing.T) {
	for _, test := range endings {
		t.Run(test.name, func(t *testing.T) {
			server := newScripted(t, test.failure)
			recorder, options := traced()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			policy, _ := counted()
			if test.policy != nil {
				test.policy(&policy, cancel)
			}
			client := &http.Client{Transport: &retryhttp.Transport{
				Base:   otelhttp.NewTransport(resendCount{newBase(t)}, options...),
				Policy: policy,
			}}
			resp, err := putBody(ctx, t, client, server.url)
			if test.status == 0 {
				require.Error(t, err)
			} else {
				require.NoError(t, err)
				assert.Equal(t, test.status, resp.StatusCode)
				whole(t, resp)
			}
			assert.Len(t, ended(t, recorder), test.spans)
		})
	}
}
