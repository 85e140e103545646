package retryotel

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// ResendCount returns a RoundTripper that sets http.request.resend_count on the span of the
// request, as in the semantic conventions for HTTP: the attribute is not set on the first
// attempt, and is 1 on the first retry. The RoundTripper belongs below otelhttp, and the
// request needs the context of an instrumented attempt. For a retryhttp.Transport, both go into
// its Wrap:
//
//	Wrap: func(base http.RoundTripper) http.RoundTripper {
//		return otelhttp.NewTransport(retryotel.ResendCount(base))
//	},
//
// A nil base means http.DefaultTransport.
func ResendCount(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return resendCount{base}
}

type resendCount struct{ base http.RoundTripper }

func (r resendCount) RoundTrip(req *http.Request) (*http.Response, error) {
	if n, ok := req.Context().Value(attemptKey{}).(int); ok && n > 1 {
		trace.SpanFromContext(req.Context()).SetAttributes(attribute.Int("http.request.resend_count", n-1))
	}
	return r.base.RoundTrip(req)
}
