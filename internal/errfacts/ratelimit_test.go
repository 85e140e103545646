package errfacts

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMentions(t *testing.T) {
	for name, want := range map[string]bool{
		"RateLimit":                            true,
		"ratelimit-policy":                     true,
		"X-RateLimit-Remaining":                true,
		"x-rate-limit-reset":                   true,
		"Anthropic-Ratelimit-Tokens-Remaining": true,
		"X-Rate":                               false,
		"X-Limit":                              false,
		"Separate-Limit":                       true, // its middle is rate-limit; Limits finds nothing
		"Date":                                 false,
		"":                                     false,
	} {
		assert.Equal(t, want, Mentions(Header{"Date": nil, name: {"1"}}), name)
	}
	header := Header{"Content-Type": {"text/plain"}, "Date": {"today"}, "X-Rate": {"1"}}
	assert.Zero(t, testing.AllocsPerRun(100, func() { Mentions(header) }))
}
