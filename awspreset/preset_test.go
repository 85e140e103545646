package awspreset_test

import (
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
		"10": awspreset.JavaScriptV3Standard20 + 1, "200": awspreset.Preset(200),
	} {
		assert.Equal(t, "aws-preset("+number+")", unknown.String())
		assert.NotEmpty(t, unknown.Source())
		p := unknown.Policy("")
		require.ErrorIs(t, p.Validate(), retry.ErrInvalid)
		assert.ErrorContains(t, p.Validate(), "aws-preset("+number+") is not a preset")
		assert.Equal(t, awspreset.Standard21.Policy("").Backoff, p.Backoff, "it is safe to run")
		assert.Equal(t, retry.ClassThrottled, p.Classifier.Classify(errorOfCode("SlowDown")).Class)
	}
}
