package retryconfig_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

// TestPresets: each preset has a text, which means the same policy.
func TestPresets(t *testing.T) {
	for preset := range awspreset.All() {
		for _, service := range []string{"", "dynamodb", "dynamodbstreams", "s3"} {
			p := preset.Policy(service)
			text := preset.String()
			if service != "" {
				text += " service=" + service
			}
			t.Run(text, func(t *testing.T) {
				assert.Equal(t, text, textOf(p))
				parsed, err := retryconfig.Parse(text)
				require.NoError(t, err)
				assert.Equal(t, text, textOf(parsed))
				assert.Equal(t, p.MaxAttempts, parsed.MaxAttempts)
				assert.Equal(t, p.Backoff, parsed.Backoff)
				assert.Equal(t, p.Classifier, parsed.Classifier)
				assert.Equal(t, p.Hint, parsed.Hint)
				assert.Equal(t, p.Budget, parsed.Budget)
				assert.IsType(t, p.Limiter, parsed.Limiter)
				changed := p
				changed.AttemptTimeout = time.Second
				assert.Equal(t, text+" timeout=1s", textOf(changed))
				changed.Classifier = awspreset.Classifier{Preset: preset, Service: service, CorrectsClockSkew: true}
				assert.NotContains(t, textOf(changed), preset.String(), "with another classifier")
				p.Backoff = retry.NoDelay{}
				assert.NotContains(t, textOf(p), preset.String(), "with another rule")
			})
		}
	}
	p, err := retryconfig.Parse("aws-js-v2 service=Dynamo-DB")
	require.NoError(t, err)
	assert.Equal(t, "aws-js-v2 service=dynamodb", textOf(p))
	p, err = retryconfig.Parse("aws-js-v2 service=lambda")
	require.NoError(t, err)
	assert.Equal(t, "aws-js-v2", textOf(p), "a service without rules of its own")
	p.Classifier = awspreset.Classifier{Preset: awspreset.JavaScriptV2, Service: "a service=b"}
	assert.Equal(t, "aws-js-v2", textOf(p))
	_, err = retryconfig.Parse("aws-js-v9")
	assert.ErrorContains(t, err, `did you mean "aws-js-v2"`)
}

func TestLimiter(t *testing.T) {
	p, err := retryconfig.Parse("standard attempts=3 limiter=adaptive")
	require.NoError(t, err)
	assert.Equal(t, &awspreset.AdaptiveLimiter{}, p.Limiter)
	assert.Equal(t, "standard attempts=3 limiter=adaptive", textOf(p))
	p, err = retryconfig.Parse("aws-botocore-standard-2.0 limiter=adaptive-botocore")
	require.NoError(t, err)
	assert.Equal(t, &awspreset.AdaptiveLimiter{InitialRate: 1}, p.Limiter)
	assert.Equal(t, "aws-botocore-standard-2.0 limiter=adaptive-botocore", textOf(p))
	_, err = retryconfig.Parse("limiter=token")
	assert.ErrorContains(t, err, `unknown limiter "token"; valid: none, adaptive, adaptive-botocore, porter`)

	p.Limiter = &awspreset.AdaptiveLimiter{InitialRate: 7}
	_, err = retryconfig.Text(p)
	assert.EqualError(t, err, "limiter *awspreset.AdaptiveLimiter has no text form")
}

// TestCapacity: a text can give a preset's budget more tokens, and reads back.
func TestCapacity(t *testing.T) {
	for preset := range awspreset.All() {
		text := preset.String() + " capacity=2000"
		p, err := retryconfig.Parse(text)
		usual, ok := preset.Policy("").Budget.(*awspreset.TokenBudget)
		if !ok {
			assert.ErrorContains(t, err, "capacity=2000: "+preset.String()+" has no budget of tokens")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, text, textOf(p))
		usual.Capacity = 2000
		assert.Equal(t, usual, p.Budget)
	}
	for text, fault := range map[string]string{
		"aws-standard-2.1 capacity=0":                 "write budget=none",
		"aws-standard-2.1 capacity=much":              "is not a number",
		"aws-standard-2.1 capacity=-5":                "Capacity -5 is not a number of at least 0",
		"aws-standard-2.1 capacity=NaN":               "Capacity NaN",
		"aws-standard-2.1 capacity=1":                 "there would be no retry",
		"aws-standard-2.1 capacity=900 budget=none":   "which the key budget replaces",
		"aws-standard-2.1 capacity=9 capacity=10":     `key "capacity" is given twice`,
		"full base=1s capacity=2000":                  `unknown key "capacity"`,
		"aws-standard-2.1 service=dynamodb size=2000": `unknown key "size"`,
	} {
		_, err := retryconfig.Parse(text)
		assert.ErrorContains(t, err, fault, text)
	}
}
