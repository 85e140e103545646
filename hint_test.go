package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

func TestHintRules(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name        string
		rule        retry.HintRule
		delay, hint time.Duration
		want        time.Duration
		ok          bool
	}{
		{"at least, longer hint", retry.HintAtLeast{}, s, 3 * s, 3 * s, true},
		{"at least, longer delay", retry.HintAtLeast{}, 5 * s, 3 * s, 5 * s, true},
		{"at least, above the maximum", retry.HintAtLeast{Max: 2 * s}, s, 3 * s, 2 * s, true},
		{"at least, delay above the maximum", retry.HintAtLeast{Max: 2 * s}, 4 * s, 3 * s, 4 * s, true},
		{"at least, centuries", retry.HintAtLeast{Max: -1}, s, forever, time.Hour, true},
		{"stop, within", retry.HintOrGiveUp{Max: 3 * s}, s, 3 * s, 3 * s, true},
		{"stop, above", retry.HintOrGiveUp{Max: 3*s - 1}, s, 3 * s, 3 * s, false},
		{"stop, within the usual", retry.HintOrGiveUp{}, s, time.Hour, time.Hour, true},
		{"stop, above the usual", retry.HintOrGiveUp{}, s, time.Hour + 1, time.Hour + 1, false},
		{"window, within", retry.HintWindow{}, s, 3 * s, 3 * s, true},
		{"window, at its end", retry.HintWindow{}, s, 6 * s, 6 * s, true},
		{"window, after it", retry.HintWindow{}, s, 7 * s, 6 * s, true},
		{"window, before it", retry.HintWindow{}, 5 * s, 3 * s, 5 * s, true},
		{"window, one of its own", retry.HintWindow{Width: s}, s, 3 * s, 2 * s, true},
		{"window, negative", retry.HintWindow{Width: -1}, s, forever, 6 * s, true},
		{"window, saturating", retry.HintWindow{}, forever - s, forever, forever, true},
		{"ignore", retry.HintIgnore{}, s, 3 * s, s, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.rule.Wait(tt.delay, tt.hint)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.ok, ok)
		})
	}
}
