package http_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

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
	"github.com/gobackoff/retry/retryotel"
	"github.com/gobackoff/retry/retrytest"
)

// resendCount, below otelhttp, records the number of the retry in the span, as the
// semantic conventions define it: 1 for the first retry.
type resendCount struct{ base http.RoundTripper }

func (r resendCount) RoundTrip(req *http.Request) (*http.Response, error) {
	if n := retryhttp.AttemptNumber(req.Context()); n > 1 {
		trace.SpanFromContext(req.Context()).SetAttributes(attribute.Int("http.request.resend_count", n-1))
	}
	return r.base.RoundTrip(req)
}

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

// ended returns the spans, sorted by start time, and checks that all have ended.
func ended(t *testing.T, recorder *tracetest.SpanRecorder) []sdktrace.ReadOnlySpan {
	t.Helper()
	for _, span := range recorder.Started() {
		assert.False(t, span.EndTime().IsZero(), "the span %s has not ended", span.Name())
	}
	var spans []sdktrace.ReadOnlySpan
	for _, span := range recorder.Started() {
		spans = append(spans, span)
	}
	assert.Len(t, recorder.Ended(), len(spans))
	return spans
}

func number(span sdktrace.ReadOnlySpan, key attribute.Key) int {
	for _, kv := range span.Attributes() {
		if kv.Key == key {
			return int(kv.Value.AsInt64())
		}
	}
	return 0
}

// TestTracedBelow: each attempt has its own span, whose ID is sent to the server. The
// span ends even if the response is discarded.
func TestTracedBelow(t *testing.T) {
	recorder, options := traced()
	base := newBase(t)
	wrap := func(base http.RoundTripper) http.RoundTripper {
		return otelhttp.NewTransport(resendCount{base}, options...)
	}
	for name, transport := range map[string]*retryhttp.Transport{
		"Base": {Base: wrap(base)},
		"Wrap": {Base: base, Wrap: wrap},
	} {
		t.Run(name, func(t *testing.T) {
			recorder.Reset()
			server := newScripted(t, gives(503, 20<<10), dies, gives(200, 30<<10))
			policy, attempts := counted()
			transport.Policy = policy
			resp, err := putBody(t.Context(), t, &http.Client{Transport: transport}, server.url)
			require.NoError(t, err)
			require.Len(t, recorder.Ended(), 2, "the last span ends when its response is closed")
			assert.Len(t, whole(t, resp), 30<<10)
			assert.EqualValues(t, 3, attempts.Load())

			spans := ended(t, recorder)
			require.Len(t, spans, 3)
			for i, span := range spans {
				assert.Equal(t, trace.SpanKindClient, span.SpanKind())
				assert.Equal(t, i, number(span, "http.request.resend_count"))
				assert.Equal(t, []int{503, 0, 200}[i], number(span, "http.response.status_code"))
				assert.Contains(t, server.parents[i], span.SpanContext().SpanID().String(), "the server received the ID of the span")
				assert.True(t, server.bodies[i] == longBody, "body %d has %d bytes", i+1, len(server.bodies[i]))
			}
		})
	}
}

func TestTracedAbove(t *testing.T) {
	server := newScripted(t, gives(503, 20<<10), dies, gives(200, 30<<10))
	recorder, options := traced()
	policy, attempts := counted()
	client := &http.Client{Transport: otelhttp.NewTransport(
		&retryhttp.Transport{Base: newBase(t), Policy: policy, Sign: func(req *http.Request) (retryhttp.Refused, error) {
			req.Header.Set("Attempt", strconv.Itoa(retryhttp.AttemptNumber(req.Context())))
			return nil, nil
		}}, options...)}
	resp, err := putBody(t.Context(), t, client, server.url)
	require.NoError(t, err)
	assert.Empty(t, recorder.Ended(), "the response is not closed")
	assert.Len(t, whole(t, resp), 30<<10)
	assert.EqualValues(t, 3, attempts.Load())

	spans := ended(t, recorder)
	require.Len(t, spans, 1)
	assert.Equal(t, 200, number(spans[0], "http.response.status_code"))
	assert.Equal(t, []string{"1", "2", "3"}, server.attempts)
	for i, body := range server.bodies {
		assert.Contains(t, server.parents[i], spans[0].SpanContext().SpanID().String(), "all attempts belong to one span")
		assert.True(t, body == longBody, "body %d has %d bytes", i+1, len(body))
	}
}

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

// TestResendCount: each request of an operation under retryotel has its own traceparent, and
// its span has the resend count.
func TestResendCount(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	var hits atomic.Int64
	parents := make(chan string, 3)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		parents <- req.Header.Get("traceparent")
		if hits.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	client := http.Client{Transport: otelhttp.NewTransport(retryotel.ResendCount(nil),
		otelhttp.WithTracerProvider(tracer), otelhttp.WithPropagators(propagation.TraceContext{}))}
	policy := retryotel.Instrumentation{TracerProvider: tracer}.Instrument(retry.Policy{Clock: &retrytest.Clock{}}, "fetch page")
	require.NoError(t, retry.Do(t.Context(), policy, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	}))
	seen := map[string]bool{<-parents: true, <-parents: true, <-parents: true}
	assert.Len(t, seen, 3)
	var counts []int
	for _, span := range recorder.Ended() {
		if span.Name() != "fetch page attempt" {
			counts = append(counts, number(span, "http.request.resend_count"))
		}
	}
	assert.Equal(t, []int{0, 1, 2}, counts)
}
