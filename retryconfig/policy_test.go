package retryconfig_test

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retrytest"
)

// TestKeep: a line of text replaces what a text can describe.
func TestKeep(t *testing.T) {
	clock, own := &retrytest.Clock{}, retry.FirstOf(retry.DefaultClassifier{})
	retried := 0
	filled := retryconfig.Policy{Policy: retry.Policy{
		Backoff: retry.Constant(time.Second), MaxAttempts: 9, MaxElapsed: time.Minute, Budget: &awspreset.TokenBudget{},
		Classifier: own, Clock: clock, Rand: func() float64 { return 0.5 },
		Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { retried++ }},
	}}
	kept := func(t *testing.T, p retryconfig.Policy) {
		t.Helper()
		assert.Same(t, clock, p.Clock)
		assert.InDelta(t, 0.5, p.Rand(), 0)
		p.OnRetry(t.Context(), retry.Attempt{}, 0)
		assert.Positive(t, retried)
		retried = 0
		assert.Equal(t, own, p.Classifier)
	}
	for _, text := range []string{"", " \n"} {
		p := filled
		require.NoError(t, p.UnmarshalText([]byte(text)))
		kept(t, p)
		assert.Equal(t, filled.String(), p.String(), "an empty text changes nothing")
	}
	for _, text := range []string{"full base=1s", "attempts=2", "house"} {
		t.Run(text, func(t *testing.T) {
			p := filled
			require.NoError(t, p.UnmarshalText([]byte(text)))
			kept(t, p)
			want, err := retryconfig.Parse(text)
			require.NoError(t, err)
			p.Classifier = want.Classifier
			assert.Equal(t, textOf(want), p.String())
		})
	}
	t.Run("the classifier of a preset", func(t *testing.T) {
		p := retryconfig.Policy{Policy: house("")}
		require.NoError(t, p.UnmarshalText([]byte("full base=1s")))
		assert.Equal(t, retry.Policy{Backoff: retry.FullJitter{Base: time.Second}}, p.Policy)
	})
	t.Run("a Policy of a decoder's hook", func(t *testing.T) {
		p := filled
		require.NoError(t, p.UnmarshalTOML(&retryconfig.Policy{Policy: retry.Policy{MaxAttempts: 7}}))
		kept(t, p)
		assert.Equal(t, 7, p.MaxAttempts)
	})
	t.Run("mapping", func(t *testing.T) {
		p := filled
		require.NoError(t, p.UnmarshalTOML(map[string]any{"preset": "house", "attempts": 7}))
		kept(t, p)
		want := house("")
		assert.Equal(t, want.Backoff, p.Backoff)
		assert.Equal(t, want.Hint, p.Hint)
		assert.Equal(t, 7, p.MaxAttempts)
		assert.Equal(t, time.Minute, p.MaxElapsed)
	})
}

// TestTextInOtherFormats: flags, JSON and logs use the same text.
func TestTextInOtherFormats(t *testing.T) {
	var config struct{ Retry retryconfig.Policy }
	require.NoError(t, json.Unmarshal([]byte(`{"Retry": "equal base=1s attempts=4"}`), &config))
	assert.Equal(t, retry.Policy{Backoff: retry.EqualJitter{Base: time.Second}, MaxAttempts: 4}, config.Retry.Policy)
	text, err := json.Marshal(config)
	require.NoError(t, err)
	assert.JSONEq(t, `{"Retry": "equal base=1s attempts=4"}`, string(text))

	require.Error(t, json.Unmarshal([]byte(`{"Retry": "fibonacci"}`), &config))
	assert.Equal(t, 4, config.Retry.MaxAttempts, "an error changes nothing")

	var p retryconfig.Policy
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.TextVar(&p, "retry", retryconfig.Policy{Policy: house("")}, "retry `policy`")
	require.NoError(t, flags.Parse(nil))
	assert.Equal(t, 4, p.MaxAttempts)
	require.NoError(t, flags.Parse([]string{"-retry", "no-delay attempts=2"}))
	assert.Equal(t, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2}, p.Policy)
	require.Error(t, flags.Parse([]string{"-retry", "some attempts=2"}))

	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("calling", "policy", p)
	assert.Contains(t, out.String(), `policy="no-delay attempts=2"`)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("calling", "policy", p)
	assert.Contains(t, out.String(), `"policy":"no-delay attempts=2"`)
}

// TestNone: what an operator writes who wants no retry, in each form.
func TestNone(t *testing.T) {
	for _, word := range []string{"none", "off", "never", "false"} {
		p, err := retryconfig.Parse(word)
		require.NoError(t, err)
		assert.Equal(t, retry.Policy{MaxAttempts: 1}, p, word)
		assert.Equal(t, "none", textOf(p))

		var config retryconfig.Policy
		require.NoError(t, config.UnmarshalYAML(func(value any) error {
			*value.(*any) = map[string]any{"rule": word, "timeout": "2s", "elapsed": word, "budget": word}
			return nil
		}))
		assert.Equal(t, "none timeout=2s budget=none", config.String())
	}
	var p retryconfig.Policy
	p.MaxAttempts = 7
	require.NoError(t, json.Unmarshal([]byte("false"), &p))
	assert.Equal(t, "none", p.String())
	require.NoError(t, json.Unmarshal([]byte(`{"timeout": "5s"}`), &p))
	assert.Equal(t, "none timeout=5s", p.String(), "a mapping changes what it names")
	require.NoError(t, json.Unmarshal([]byte(`{"rule": "full", "base": "1s"}`), &p))
	assert.Equal(t, "full base=1s attempts=3 timeout=5s", p.String(), "the name of a rule ends none")
	assert.ErrorContains(t, json.Unmarshal([]byte("true"), &p), "true")
}
