package retry_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

// printed is a rule of another package with a text.
type printed struct{ name string }

func (*printed) Delay(retry.Attempt, float64) time.Duration { return 0 }
func (p *printed) String() string                           { return p.name }

func TestPolicyString(t *testing.T) {
	s := time.Second
	for want, p := range map[string]retry.Policy{
		"backoff=standard attempts=3": {},
		"backoff=standard attempts=3 hint=retry.HintOrGiveUp{Max:1m0s} budget=retry.NoBudget{}": {
			Hint: retry.HintOrGiveUp{Max: time.Minute}, Budget: retry.NoBudget{},
		},
		"backoff=standard attempts=3 budget=*retry.SharedBudget": {Budget: &retry.SharedBudget{Reserve: 5}},
		"backoff=standard attempts=3 hint=retry_test.hintFunc":   {Hint: hintFunc(nil)},
		"backoff=retry.FullJitter{Base:50ms Cap:20s} attempts=5 elapsed=1m0s timeout=2s": {
			Backoff: retry.FullJitter{Base: 50 * ms, Cap: 20 * s}, MaxAttempts: 5, MaxElapsed: time.Minute, AttemptTimeout: 2 * s,
		},
		"backoff=retry.NoDelay{} attempts=3 elapsed=1m0s":          {Backoff: retry.NoDelay{}, MaxElapsed: time.Minute},
		"backoff=retry.NoDelay{} attempts=unlimited":               {Backoff: retry.NoDelay{}, MaxAttempts: retry.Unlimited},
		"backoff=retry.Constant(1.5s) attempts=3":                  {Backoff: retry.Constant(1500 * ms)},
		"backoff=retry.Schedule[1s 2s] attempts=3":                 {Backoff: retry.Schedule{s, 2 * s}},
		"backoff=retry.BackoffFunc attempts=3":                     {Backoff: retry.BackoffFunc(nil)},
		"backoff=*retry.FullJitter attempts=3":                     {Backoff: (*retry.FullJitter)(nil)},
		"backoff=retry_test.foreignBackoff attempts=3":             {Backoff: foreignBackoff{"its fields may be changing"}},
		"backoff=mine attempts=3":                                  {Backoff: &printed{"mine"}},
		"backoff=<nil> attempts=3":                                 {Backoff: (*printed)(nil)},
		"backoff=retry.Jittered{Of:standard Share:0.5} attempts=3": {Backoff: retry.Jittered{Share: 0.5}},
		"backoff=retry.WhenThrottled{Throttled:retry.EqualJitter{Base:1s} Else:retry.Capped{Of:retry_test.foreignBackoff Cap:1m0s}} attempts=3": {
			Backoff: retry.WhenThrottled{Throttled: retry.EqualJitter{Base: s}, Else: retry.Capped{Of: foreignBackoff{"its fields may be changing"}, Cap: time.Minute}},
		},
	} {
		assert.Equal(t, want, p.String())
		text, err := p.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}

// TestPolicyInLogs: the text of String is what handlers of log/slog write.
func TestPolicyInLogs(t *testing.T) {
	p := retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, Clock: retry.SystemClock{}, Rand: func() float64 { return 0 }}
	for want, handler := range map[string]func(io.Writer) slog.Handler{
		`policy="backoff=retry.FullJitter{Base:1s} attempts=3"`:   func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		`"policy":"backoff=retry.FullJitter{Base:1s} attempts=3"`: func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).Info("calling", "policy", p)
		assert.Contains(t, out.String(), want)
	}
}

// TestPolicyIsNotDecoded: a configuration of a Policy is refused, not ignored.
func TestPolicyIsNotDecoded(t *testing.T) {
	var config struct{ Retry retry.Policy }
	for _, text := range []string{`{"Retry": {"rule": "full", "attempts": 7}}`, `{"Retry": "full base=1s"}`, `{"Retry": {"MaxAttempts": 7}}`} {
		err := json.Unmarshal([]byte(text), &config)
		require.ErrorIs(t, err, retry.ErrInvalid)
		assert.ErrorContains(t, err, "github.com/gobackoff/retry/retryconfig")
	}
	p := &config.Retry
	for name, err := range map[string]error{
		"text": p.UnmarshalText(nil), "YAML": p.UnmarshalYAML(nil), "TOML": p.UnmarshalTOML(nil), "mapstructure": p.UnmarshalMapstructure(nil),
	} {
		assert.ErrorContains(t, err, "retryconfig", name)
	}
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.TextVar(p, "retry", retry.Policy{MaxAttempts: 5}, "retry `policy`")
	assert.ErrorContains(t, flags.Parse([]string{"-retry", "full base=1s"}), "retryconfig")
	assert.Equal(t, 5, p.MaxAttempts)
}
