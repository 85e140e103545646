package retryotel_test

import (
	"context"
	"fmt"
	"io"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryotel"
)

// Each attempt has a span; the span of a failed attempt has the status Error.
func ExampleInstrument() {
	spans := tracetest.NewSpanRecorder() // a program would use an exporter
	before := otel.GetTracerProvider()
	defer otel.SetTracerProvider(before)
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))

	policy := retryotel.Instrument(retry.Policy{Backoff: retry.NoDelay{}}, "fetch page")
	calls := 0
	_ = retry.Do(context.Background(), policy, func(context.Context) error {
		if calls++; calls == 1 {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	for _, span := range spans.Ended() {
		fmt.Println(span.Name(), span.Status().Code)
	}
	// Output:
	// fetch page attempt Error
	// fetch page attempt Unset
}
