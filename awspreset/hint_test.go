package awspreset_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// TestRetryAfter covers headers that no recording of an SDK contains.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		preset        awspreset.Preset
		status        int
		header, value string
		want          time.Duration
	}{
		{awspreset.Standard21, 503, "X-Amz-Retry-After", "1500", 1500 * ms},
		{awspreset.Standard21, 503, "X-Amz-Retry-After", "+20", 20 * ms},
		{awspreset.Standard21, 503, "X-Amz-Retry-After", "-20", 0},
		{awspreset.Standard21, 503, "X-Amz-Retry-After", "1_500", 0},
		{awspreset.Standard21, 503, "X-Amz-Retry-After", "99999999999999999999", 0},
		{awspreset.Standard21, 503, "X-Amz-Retry-After", "9223372036854775807", 0},
		{awspreset.Standard21, 503, "Retry-After", "3", 0},
		{awspreset.BotocoreStandard20, 503, "X-Amz-Retry-After", "1500", 0},
		{awspreset.BotocoreLegacy, 503, "Retry-After", "3", 0},
		{awspreset.GoV1, 503, "Retry-After", "3", 3 * time.Second},
		{awspreset.GoV1, 429, "Retry-After", "3", 3 * time.Second},
		{awspreset.GoV1, 500, "Retry-After", "3", 0},
		{awspreset.GoV1, 503, "Retry-After", "1.5", 0},
		{awspreset.JavaV2Legacy, 503, "Retry-After", "3", 3 * time.Second},
		{awspreset.JavaV2Legacy, 503, "Retry-After", "2147483648", 0},
		{awspreset.JavaV2Standard20, 503, "X-Amz-Retry-After", "3000", 0},
		{awspreset.JavaScriptV2, 503, "Retry-After", "3", 0},
		{awspreset.JavaScriptV3Standard20, 503, "X-Amz-Retry-After", "12.5", 12 * ms},
		{awspreset.JavaScriptV3Standard20, 503, "X-Amz-Retry-After", "1e3", 1000 * ms},
		{awspreset.JavaScriptV3Standard20, 503, "X-Amz-Retry-After", "0x10", 16 * ms},
		{awspreset.JavaScriptV3Standard20, 503, "X-Amz-Retry-After", "1_000", 0},
		{awspreset.JavaScriptV3Standard20, 503, "X-Amz-Retry-After", "infinity", 0},
		{awspreset.JavaScriptV3Standard20, 503, "X-Amz-Retry-After", "1e999", math.MaxInt64},
		{awspreset.JavaScriptV3Standard20, 503, "Retry-After", "1.5", 1500 * ms},
		{awspreset.JavaScriptV3Standard20, 503, "Retry-After", "1.", 0},
		{awspreset.JavaScriptV3Standard20, 503, "Retry-After", "+2", 0},
		{awspreset.JavaScriptV3Standard20, 503, "Retry-After", "Fri, 27 Nov 2026 12:00:07 GMT", 7 * time.Second},
		{awspreset.JavaScriptV3Standard20, 503, "Retry-After", "Fri, 27 Nov 2026 11:00:00 GMT", 0},
		{awspreset.Preset(200), 503, "X-Amz-Retry-After", "1500", 1500 * ms},
	} {
		header := func(name string) string {
			if name == tt.header {
				return tt.value
			}
			return ""
		}
		assert.Equal(t, tt.want, tt.preset.RetryAfter(tt.status, header, now), "%v, %d %s: %s", tt.preset, tt.status, tt.header, tt.value)
	}
}

func TestGoV1Hint(t *testing.T) {
	rule := awspreset.GoV1.Policy("").Hint
	for hint, want := range map[time.Duration]time.Duration{
		time.Second:   3 * time.Second,
		2 * time.Hour: time.Hour + 2*time.Second,
		math.MaxInt64: time.Hour + 2*time.Second,
	} {
		wait, ok := rule.Wait(2*time.Second, hint)
		assert.True(t, ok)
		assert.Equal(t, want, wait)
	}
	assert.Implements(t, (*retry.HintRule)(nil), rule)
}

// TestHintWindow: a hint lengthens a delay by at most the width.
func TestHintWindow(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name        string
		rule        awspreset.HintWindow
		delay, hint time.Duration
		want        time.Duration
	}{
		{"within", awspreset.HintWindow{}, s, 3 * s, 3 * s},
		{"at its end", awspreset.HintWindow{}, s, 6 * s, 6 * s},
		{"after it", awspreset.HintWindow{}, s, 7 * s, 6 * s},
		{"before it", awspreset.HintWindow{}, 5 * s, 3 * s, 5 * s},
		{"another width", awspreset.HintWindow{Width: s}, s, 3 * s, 2 * s},
		{"negative", awspreset.HintWindow{Width: -1}, s, math.MaxInt64, 6 * s},
		{"narrowest", awspreset.HintWindow{Width: 1}, s, math.MaxInt64, s + 1},
		{"saturating", awspreset.HintWindow{}, math.MaxInt64 - s, math.MaxInt64, math.MaxInt64},
	} {
		wait, ok := tt.rule.Wait(tt.delay, tt.hint)
		assert.Equal(t, tt.want, wait, tt.name)
		assert.True(t, ok, tt.name)
	}
	require.NoError(t, awspreset.HintWindow{Width: 1}.Validate())
	assert.EqualError(t, awspreset.HintWindow{Width: -1}.Validate(), "invalid retry hint rule: HintWindow: Width -1ns is negative")
}

// TestHintWindowIsNotSpread: nothing random is added to a hint, as in the SDKs.
func TestHintWindowIsNotSpread(t *testing.T) {
	p := retry.Policy{Backoff: retry.NoDelay{}, Hint: awspreset.HintWindow{Width: time.Hour}, Rand: func() float64 { return 0.99 }}
	wait, reason := p.Start().Failed(t.Context(), retry.After(errors.New("busy"), 30*time.Second))
	require.NoError(t, reason)
	assert.Equal(t, 30*time.Second, wait)
}
