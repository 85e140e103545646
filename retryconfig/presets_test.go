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
