package retryotel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/attribute"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

type named string

func (n named) Error() string     { return "named" }
func (n named) ErrorType() string { return string(n) }

type answer int

func (a answer) Error() string       { return "answer" }
func (a answer) HTTPStatusCode() int { return int(a) }

// TestErrorType: spans, attempts and give-ups have the same error.type.
func TestErrorType(t *testing.T) {
	var none *fs.PathError
	for want, err := range map[string]error{
		"*errors.errorString": fmt.Errorf("no page: %w", io.EOF),
		"*fs.PathError":       retry.Transient(&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}),
		"syscall.Errno":       retry.After(errors.Join(syscall.ECONNRESET, io.EOF), time.Second),
		"*net.OpError":        &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		"QuotaExceeded":       fmt.Errorf("no page: %w", named("QuotaExceeded")),
		"503":                 answer(503),
		"timeout":             context.DeadlineExceeded,
	} {
		t.Run(want, func(t *testing.T) {
			tel := newTelemetry()
			p := seconds
			p.MaxAttempts = 1
			assert.Error(t, retry.Do(t.Context(), tel.Instrument(p, "fetch page"), retrytest.Script(err).Run))
			assert.Equal(t, want, attributes(tel.spans.Ended()[0])[attribute.Key("error.type")])
			metrics := tel.metrics(t)
			assert.Equal(t, map[string]int64{want: 1}, counts(t, metrics["retry.attempts"], "error.type"))
			assert.Equal(t, map[string]int64{want: 1}, counts(t, metrics["retry.give_ups"], "error.type"))
		})
	}
	tel := newTelemetry()
	assert.Error(t, retry.Do(t.Context(), tel.Instrument(seconds, "fetch page"), retrytest.Script(none, none, none).Run))
	assert.Equal(t, map[string]int64{"*fs.PathError": 3}, counts(t, tel.metrics(t)["retry.attempts"], "error.type"))
}

// TestErrorTypeOfResponse: a response that means throttling keeps its status.
func TestErrorTypeOfResponse(t *testing.T) {
	for status, header := range map[int]string{403: "X-Ratelimit-Remaining", 420: "", 429: "", 430: "", 503: "", 529: ""} {
		resp := &http.Response{StatusCode: status, Header: http.Header{header: {"0"}}}
		tel := newTelemetry()
		p := seconds
		p.MaxAttempts = 1
		assert.Error(t, retry.Do(t.Context(), tel.Instrument(p, "fetch page"), func(context.Context) error { return retryhttp.CheckStatus(resp) }))
		span := tel.spans.Ended()[0]
		assert.Equal(t, strconv.Itoa(status), attributes(span)["error.type"])
		assert.Contains(t, span.Status().Description, strconv.Itoa(status))
	}
}

// TestAttemptTimeout: an attempt that exceeded its time limit is a timeout, whatever the
// operation returned.
func TestAttemptTimeout(t *testing.T) {
	tel := newTelemetry()
	policy := tel.Instrument(retry.Policy{MaxAttempts: 1, AttemptTimeout: time.Millisecond}, "fetch page")
	assert.Error(t, retry.Do(t.Context(), policy, func(ctx context.Context) error { <-ctx.Done(); return io.EOF }))
	assert.Equal(t, map[string]int64{"timeout": 1}, counts(t, tel.metrics(t)["retry.attempts"], "error.type"))
}
