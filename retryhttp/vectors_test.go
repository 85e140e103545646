package retryhttp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/internal/test/vectors"
	"github.com/gobackoff/retry/retryhttp"
)

// TestHintVectors: RetryAfter reads the headers of RFC 9110, of the RateLimit drafts and of
// well-known APIs.
func TestHintVectors(t *testing.T) {
	type given struct {
		Status  int
		Headers map[string]string
		Now     time.Time
		Delay   float64 `json:"delay_ms"`
	}
	r := vectors.Check(t, "hint/http", func(_ string, c given) any {
		header := make(http.Header)
		for name, value := range c.Headers {
			header.Set(name, value)
		}
		hint := retryhttp.RetryAfter(&http.Response{StatusCode: c.Status, Header: header}, c.Now)
		return map[string]float64{"wait_ms": max(c.Delay, float64(hint)/float64(time.Millisecond))}
	})
	assert.Equal(t, r.Answers.All, r.Answers.Of, "%v", r)
}
