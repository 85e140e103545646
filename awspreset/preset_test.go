package awspreset_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

func TestPresetText(t *testing.T) {
	for preset := range awspreset.All() {
		for _, service := range []string{"", "dynamodb", "dynamodbstreams", "s3"} {
			p := preset.Policy(service)
			text := preset.String()
			if service != "" {
				text += " service=" + service
			}
			t.Run(text, func(t *testing.T) {
				require.NoError(t, p.Validate())
				assert.Equal(t, text, p.String())
				parsed, err := retry.ParsePolicy(text)
				require.NoError(t, err)
				assert.Equal(t, text, parsed.String())
				assert.Equal(t, p.MaxAttempts, parsed.MaxAttempts)
				assert.Equal(t, p.Backoff, parsed.Backoff)
				assert.Equal(t, p.Classifier, parsed.Classifier)
				assert.Equal(t, p.Hint, parsed.Hint)
				assert.Equal(t, p.Budget, parsed.Budget)
				assert.IsType(t, p.Limiter, parsed.Limiter)
				changed := p
				changed.AttemptTimeout = ms
				assert.Equal(t, p.String()+" timeout=1ms", changed.String())
				changed.Classifier = awspreset.Classifier{Preset: preset, Service: service, CorrectsClockSkew: true}
				assert.NotContains(t, changed.String(), preset.String(), "with another classifier")
				p.Backoff = retry.NoDelay{}
				assert.NotContains(t, p.String(), preset.String(), "with another rule")
			})
		}
	}
}

func TestPresetUnknown(t *testing.T) {
	for number, unknown := range map[string]awspreset.Preset{
		"31": awspreset.JavaScriptV3Adaptive2026 + 1, "200": awspreset.Preset(200),
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
