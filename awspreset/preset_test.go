package awspreset_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

func TestPresetsAreValid(t *testing.T) {
	names := map[string]bool{}
	for preset := range awspreset.All() {
		for _, service := range []string{"", "dynamodb", "dynamodbstreams", "s3"} {
			p := preset.Policy(service)
			require.NoError(t, p.Validate(), "%v", preset)
			assert.Equal(t, awspreset.Classifier{Preset: preset, Service: service}, p.Classifier)
		}
		assert.False(t, names[preset.String()], "%v", preset)
		names[preset.String()] = true
	}
}

func TestPresetUnknown(t *testing.T) {
	for number, unknown := range map[string]awspreset.Preset{
		"27": awspreset.JavaScriptV3Adaptive2026 + 1, "200": awspreset.Preset(200),
	} {
		assert.Equal(t, "aws-preset("+number+")", unknown.String())
		assert.NotEmpty(t, unknown.Source())
		p := unknown.Policy("")
		require.ErrorIs(t, p.Validate(), retry.ErrInvalid)
		assert.ErrorContains(t, p.Validate(), "aws-preset("+number+") is not a preset")
		assert.Equal(t, awspreset.Standard2026.Policy("").Backoff, p.Backoff, "it is safe to run")
		assert.Equal(t, retry.ClassThrottled, p.Classifier.Classify(errorOfCode("SlowDown")).Class)
	}
}

func TestPresetLimiters(t *testing.T) {
	common := func() *awspreset.AdaptiveLimiter { return &awspreset.AdaptiveLimiter{} }
	limiters := map[string]func() *awspreset.AdaptiveLimiter{
		"aws-adaptive-2026": common, "aws-java-v2-": common, "aws-botocore-": awspreset.AdaptiveBotocore,
		"aws-go-v2-": awspreset.AdaptiveGoV2, "aws-java-v1-": awspreset.AdaptiveJavaV1, "aws-js-v3-": awspreset.AdaptiveJavaScriptV3,
	}
	for preset := range awspreset.All() {
		limiter, ok := preset.Policy("").Limiter.(*awspreset.AdaptiveLimiter)
		require.Equal(t, strings.Contains(preset.String(), "adaptive"), ok, "%v", preset)
		for prefix, made := range limiters {
			if ok && strings.HasPrefix(preset.String(), prefix) {
				assert.Equal(t, made().Rules(), limiter.Rules(), "%v", preset)
			}
		}
	}
}
